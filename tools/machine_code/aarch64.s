// PyObject *launch(PyObject *table, PyObject *): the table is a bytes object, see `machine_code.py`.
    .set SAVE, 0
    .set RESTORE, 8
    .set FROM_LONG, 16
    .set CALL_NO_ARGS, 24
    .set CALL_WITH, 32
    .set INCREF, 40
    .set DECREF, 48
    .set SLOW, 56
    .set FAILED, 64
    .set LATE, 72
    .set RESULT, 80
    .set CALLS, 88                      // how many, and where the first one is in the table
    .set LISTS, 104

launch:
    stp x29, x30, [sp, -64]!
    stp x19, x20, [sp, 16]              // the table, the state of the thread
    stp x21, x22, [sp, 32]              // the number of the call, the list of counters
    stp x23, x24, [sp, 48]              // the call, the next call
    mov x29, sp
    add x19, x0, 32                     // behind the head of a bytes object
    add x1, x19, LISTS

    ldr x2, [x1], 8                     // words of which none may be other than 0
zeros:
    subs x2, x2, 1
    b.mi pointers
    ldr x3, [x1], 8
    ldr x3, [x3]
    cbnz x3, slow
    b zeros
pointers:                               // words of which none may be 0
    ldr x2, [x1], 8
next_pointer:
    subs x2, x2, 1
    b.mi enter
    ldr x3, [x1], 8
    ldr x3, [x3]
    cbz x3, slow
    b next_pointer
enter:
    mov x22, x1
    ldr x2, [x1], 8
count_up:
    subs x2, x2, 1
    b.mi release
    ldr x3, [x1], 8
    ldr x4, [x3]
    add x4, x4, 1
    str x4, [x3]
    b count_up
release:
    ldr x8, [x19, SAVE]
    blr x8
    mov x20, x0
    mov x21, 0
    ldr x23, [x19, CALLS + 8]
    add x23, x19, x23

next_call:                              // address, words of the stack, 8 integers, 8 doubles
    ldr x9, [x23, 8]
    add x10, x23, 16
    sub sp, sp, x9, lsl 3
    mov x11, sp
stack:
    subs x9, x9, 1
    b.mi registers
    ldr x12, [x10], 8
    str x12, [x11], 8
    b stack
registers:
    add x24, x10, 128
    ldp x0, x1, [x10]
    ldp x2, x3, [x10, 16]
    ldp x4, x5, [x10, 32]
    ldp x6, x7, [x10, 48]
    ldp d0, d1, [x10, 64]
    ldp d2, d3, [x10, 80]
    ldp d4, d5, [x10, 96]
    ldp d6, d7, [x10, 112]
    ldr x8, [x23]
    blr x8
    mov sp, x29
    mov x23, x24
    cbnz w0, failed
    add x21, x21, 1
    ldr x9, [x19, CALLS]
    cmp x21, x9
    b.lo next_call

    bl leave
    ldr x2, [x1], 8                     // words that say that something was closed meanwhile
next_closed:
    subs x2, x2, 1
    b.mi done
    ldr x3, [x1], 8
    ldr x3, [x3]
    cbz x3, next_closed
    ldr x0, [x19, LATE]
    ldr x8, [x19, CALL_NO_ARGS]
    blr x8
    ldr x8, [x19, DECREF]
    blr x8
done:
    ldr x0, [x19, RESULT]
    ldr x8, [x19, INCREF]
    blr x8
    ldr x0, [x19, RESULT]
end:
    ldp x23, x24, [sp, 48]
    ldp x21, x22, [sp, 32]
    ldp x19, x20, [sp, 16]
    ldp x29, x30, [sp], 64
    ret

slow:
    ldr x0, [x19, SLOW]
    ldr x8, [x19, CALL_NO_ARGS]
    blr x8
    b end

failed:                                 // told by number << 32 | status
    mov w23, w0
    bl leave
    orr x0, x23, x21, lsl 32
    ldr x8, [x19, FROM_LONG]
    blr x8
    mov x23, x0
    mov x1, x0
    ldr x0, [x19, FAILED]
    mov x2, 0                           // no more arguments
    ldr x8, [x19, CALL_WITH]
    blr x8
    mov x21, x0
    mov x0, x23
    ldr x8, [x19, DECREF]
    blr x8
    mov x0, x21
    b end

leave:                                  // take the GIL, and count down; x1 is then behind the list
    str x30, [sp, -16]!
    mov x0, x20
    ldr x8, [x19, RESTORE]
    blr x8
    mov x1, x22
    ldr x2, [x1], 8
count_down:
    subs x2, x2, 1
    b.mi left
    ldr x3, [x1], 8
    ldr x4, [x3]
    sub x4, x4, 1
    str x4, [x3]
    b count_down
left:
    ldr x30, [sp], 16
    ret
