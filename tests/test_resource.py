"""Ownership: what is created is destroyed once, in order, and a closed object never reaches C."""

from __future__ import annotations

import ctypes
import gc
import threading
import tracemalloc
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from programs import printed, run_program

import cudnn_ctypes as cudnn
from cudnn_ctypes import errors, raw
from cudnn_ctypes.graph.backend.descriptor import BackendDescriptor
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.resource import Pointers, Resource


class Thing(Resource):
    """A resource whose destruction is written down."""

    def __init__(self, name: str, log: list[str], *, parents: tuple[object, ...] = ()) -> None:
        handle = raw.cudnnTensorDescriptor_t()
        handle.value = 0x1000
        self.name = name
        super().__init__(handle, lambda _: log.append(name), parents=parents)


@pytest.fixture
def log() -> list[str]:
    return []


@pytest.fixture
def warned() -> Iterator[list[warnings.WarningMessage]]:
    gc.collect()  # what other tests forgot
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


class TestClose:
    def test_an_error_gets_out_once(self, log: list[str]) -> None:
        def refuse(_: Any) -> None:
            log.append("tried")
            raise errors.BadParamError("cudnnDestroyX", raw.CUDNN_STATUS_BAD_PARAM)

        thing = Resource(raw.cudnnTensorDescriptor_t(), refuse)
        with pytest.raises(cudnn.BadParamError, match="cudnnDestroyX"):
            thing.close()
        assert thing.closed
        thing.close()
        assert log == ["tried"]

    def test_an_error_in_close_does_not_hide_the_one_inside(self) -> None:
        def refuse(_: Any) -> None:
            raise RuntimeError("destroy")

        with pytest.raises(RuntimeError, match="destroy") as caught, Resource(None, refuse):
            raise KeyError("inside")
        assert isinstance(caught.value.__context__, KeyError)


class TestClosed:
    def test_a_class_is_no_handle(self) -> None:
        assert not hasattr(cudnn.Handle, "_as_parameter_")
        with pytest.raises(TypeError, match="expected device memory"):
            memory_pointer(cudnn.Handle)

    def test_it_raises_before_c(self, log: list[str]) -> None:
        thing = Thing("a", log)
        thing.close()
        with pytest.raises(cudnn.ClosedError, match="this Thing is closed"):
            raw.cudnnSetTensor4dDescriptor(thing, 0, 0, 1, 1, 1, 1)
        with pytest.raises(cudnn.ClosedError, match="this Thing is closed"):
            _ = thing._as_parameter_


class TestForgotten:
    def test_it_is_destroyed_with_a_warning(self, log, warned):
        Thing("a", log)
        gc.collect()
        assert log == ["a"]
        (warning,) = warned
        assert warning.category is cudnn.UnclosedWarning
        assert issubclass(cudnn.UnclosedWarning, ResourceWarning)
        assert str(warning.message) == "unclosed Thing"

    def test_tracemalloc_tells_where_it_was_created(self, log, warned):
        tracemalloc.start(5)
        try:
            Thing("a", log)  # this line
        finally:
            tracemalloc.stop()
        gc.collect()
        text = str(warned[0].message)
        assert text.startswith("unclosed Thing\ncreated at:\n")
        assert __file__ in text
        assert 'Thing("a", log)  # this line' in text

    def test_an_error_is_only_reported(self, warned: list[warnings.WarningMessage]) -> None:
        def refuse(_: Any) -> None:
            raise RuntimeError("destroy failed")

        Resource(raw.cudnnTensorDescriptor_t(), refuse)
        gc.collect()
        assert [w.category for w in warned] == [cudnn.UnclosedWarning, cudnn.CleanUpWarning]
        assert "error while cleaning up an unclosed Resource: destroy failed" in str(
            warned[1].message
        )

    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_children_go_before_their_parents(self, log: list[str]) -> None:
        parent = Thing("parent", log)
        child = Thing("child", log, parents=(parent,))
        del parent
        gc.collect()
        assert log == []  # the child keeps it alive
        del child
        gc.collect()
        assert log == ["child", "parent"]

    @pytest.mark.filterwarnings("ignore::ResourceWarning")
    def test_in_a_collected_cycle_too(self, log: list[str]) -> None:
        gc.disable()
        gc.freeze()  # what other tests left would be walked through sixty times
        try:
            for i in range(20):
                parent = Thing("parent", log)
                child = Thing("child", log, parents=(parent,))
                grandchild = Thing("grandchild", log, parents=(child,))
                parent.cycle = [parent]
                child.cycle = [child, parent]
                grandchild.cycle = [grandchild, child, parent]
                del parent, child, grandchild
                for _ in range(3):  # a parent is in the cycle that its child's end leaves
                    gc.collect()
                assert log == ["grandchild", "child", "parent"], i
                log.clear()
        finally:
            gc.enable()

    def test_a_parent_that_holds_its_child_keeps_both_until_exit(self) -> None:
        program = """
            import gc
            from cudnn_ctypes.resource import Pointers, Resource
            class Thing(Resource):
                def __init__(self, name, parents=()):
                    super().__init__(None, lambda _: print("destroy", name), parents=parents)
            parent = Thing("parent")
            parent.child = Thing("child", (parent,))
            del parent
            gc.collect()
            print("end")
        """
        assert printed(program) == ["end", "destroy child", "destroy parent"]


class TestExit:
    def test_what_is_left_is_destroyed_children_first_and_quietly(self) -> None:
        program = """
            import warnings
            warnings.simplefilter("error")
            from cudnn_ctypes.resource import Pointers, Resource
            class Thing(Resource):
                def __init__(self, name, parents=()):
                    super().__init__(None, lambda _: print("destroy", name), parents=parents)
            parent = Thing("parent")
            child = Thing("child", (parent,))
            child.cycle = child
            print("end")
        """
        done = run_program(program, flags=("-X", "dev"))
        assert done.stdout.splitlines() == ["end", "destroy child", "destroy parent"]
        assert done.stderr == ""

    def test_cudnn_s_own_objects(self) -> None:
        program = """
            from cudnn_ctypes import ConvolutionDescriptor, Handle, TensorDescriptor
            from cudnn_ctypes import use_reference_device
            use_reference_device()
            kept = [Handle(), TensorDescriptor((1, 2, 3, 4)), ConvolutionDescriptor(padding=1)]
            kept.append(kept)
            print("end")
        """
        done = run_program(program, flags=("-X", "dev"))
        assert done.stdout.splitlines() == ["end"]
        assert done.stderr == ""

    def test_what_is_closed_after_that_is_destroyed_once(self) -> None:
        """Generators that the exit interrupts leave their ``with`` blocks later than all others."""
        program = """
            import os
            from cudnn_ctypes.resource import Pointers, Resource
            def destroy(_, write=os.write):  # sys.stdout may be gone
                write(1, b"destroy\\n")
            def lending():
                with Resource(None, destroy) as thing:
                    yield thing
            kept = lending()
            thing = next(kept)
            print("end", flush=True)
        """
        done = run_program(program)
        assert done.stdout.splitlines() == ["end", "destroy"]
        assert done.stderr == ""

    def test_an_error_at_exit_is_only_reported(self) -> None:
        program = """
            from cudnn_ctypes.resource import Pointers, Resource
            def refuse(handle):
                raise RuntimeError("destroy failed")
            kept = Resource(None, refuse)
        """
        done = run_program(program)
        assert "destroy failed" in done.stderr

    def test_a_failing_call_during_exit_is_safe(self) -> None:
        """cuDNN logs into Python's callback; at exit nobody may call Python any more."""
        program = """
            import atexit
            from cudnn_ctypes import raw
            x = raw.cudnnTensorDescriptor_t()
            raw.cudnnCreateTensorDescriptor(x)
            def late():
                print(raw.cudnnSetTensor4dDescriptor.unchecked(x, 0, 0, 0, 1, 1, 1).name)
            class AtTheVeryEnd:
                def __del__(self, call=raw.cudnnSetTensor4dDescriptor.unchecked, x=x):
                    call(x, 0, 0, 0, 1, 1, 1)
            import sys
            sys.modules["at_the_very_end"] = AtTheVeryEnd()
            atexit.register(late)
        """
        lines = printed(program)
        assert lines[0] == "CUDNN_STATUS_BAD_PARAM"


@contextmanager
def _call_with(argument: object, log: list[str]) -> Iterator[None]:
    """Another thread is in a C call with `argument`, which returns at the end."""
    called, may_return = threading.Event(), threading.Event()

    def stand_in(address: int) -> int:
        called.set()
        may_return.wait(30)
        log.append(f"{address:#x} returned")
        return 0

    in_c = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(stand_in)
    prototype = ctypes.CFUNCTYPE(ctypes.c_int, raw.cudnnTensorDescriptor_t)
    function = prototype(ctypes.cast(in_c, ctypes.c_void_p).value)
    thread = threading.Thread(target=lambda: function(argument))
    thread.start()
    try:
        assert called.wait(30)
        yield
    finally:
        may_return.set()
        thread.join(30)


class Waiting(Thing):
    """Destroyed after the calls that use it."""

    _waits = True


class WaitingResource(Resource):
    _waits = True


class TestCloseDuringACall:
    """The C object outlives the call: cuDNN would use memory that it has given back."""

    def test_it_is_destroyed_when_the_call_returns(self, log: list[str]) -> None:
        thing = Waiting("a", log)
        with _call_with(thing, log):
            thing.close()
            assert thing.closed
            with pytest.raises(cudnn.ClosedError):
                raw.cudnnSetTensor4dDescriptor(thing, 0, 0, 1, 1, 1, 1)
            thing.close()
            log.append("closed")
        assert log == ["closed", "0x1000 returned", "a"]

    def test_parents_stay_as_long(self, log: list[str]) -> None:
        parent = Waiting("parent", log)
        child = Waiting("child", log, parents=(parent,))
        with warnings.catch_warnings(), _call_with(child, log):
            warnings.simplefilter("ignore", ResourceWarning)
            child.close()
            del parent
            gc.collect()
            assert log == []
        assert log == ["0x1000 returned", "child", "parent"]

    def test_an_error_then_is_a_warning(self, log, warned):
        def refuse(_: Any) -> None:
            raise RuntimeError("cannot")

        handle = raw.cudnnTensorDescriptor_t()
        handle.value = 0x2000
        thing = WaitingResource(handle, refuse)
        del handle
        with _call_with(thing, log):
            thing.close()
        (warning,) = warned
        assert str(warning.message).endswith(
            "WaitingResource that was closed during a call: cannot"
        )

    def test_destruction_gets_the_same_handle(self) -> None:
        destroyed: list[int] = []
        handle = raw.cudnnTensorDescriptor_t()
        handle.value = 0x3000
        WaitingResource(handle, lambda given: destroyed.append(given.value)).close()
        assert destroyed == []  # this test uses it still
        del handle
        assert destroyed == [0x3000]

    def test_others_are_destroyed_at_once(self, log: list[str]) -> None:
        thing = Thing("a", log)
        with _call_with(thing, log):
            thing.close()
        assert log == ["a", "0x1000 returned"]

    def test_handles_and_backend_descriptors_wait(self) -> None:
        assert cudnn.Handle._waits
        assert BackendDescriptor._waits


class TestPointers:
    def test_they_are_what_c_receives_until_one_owner_is_closed(self, log: list[str]) -> None:
        for closed in (0, 1):
            owners = Waiting("a", log), Waiting("b", log)
            pointers = Pointers(*owners)
            assert pointers.arguments == tuple(each._as_parameter_ for each in owners)
            owners[closed].close()
            assert not hasattr(pointers, "arguments")
            owners[1 - closed].close()
        assert log == ["a", "b", "b", "a"]

    def test_a_closed_owner_is_refused(self, log: list[str]) -> None:
        open_one, closed = Waiting("a", log), Waiting("b", log)
        closed.close()
        with pytest.raises(cudnn.ClosedError):
            Pointers(open_one, closed)
        open_one.close()
        assert log == ["b", "a"]

    def test_they_put_no_destruction_off(self, log: list[str]) -> None:
        """But arguments of a call that is running do."""
        first, second = Waiting("a", log), Waiting("b", log)
        pointers = Pointers(first, second)
        arguments = pointers.arguments
        first.close()
        assert log == []
        del arguments
        assert log == ["a"]
        second.close()
        assert log == ["a", "b"]

    def test_owners_do_not_keep_them(self, log: list[str]) -> None:
        owner = Waiting("a", log)
        pointers = weakref.ref(Pointers(owner))
        assert pointers() is None
        owner.close()
