"""Asking for convolution algorithms on the reference device: counts, tables, workspace sizes.

What is answered is stated in `convolution_algorithms`, how in `convolution_search`.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from .convolution_algorithms import BACKWARD_DATA, BACKWARD_FILTER, FORWARD
from .convolution_problem import Problem
from .convolution_runs import run_backward_data, run_backward_filter, run_forward
from .convolution_search import (
    fill_max_count,
    fill_workspace_size,
    find,
    find_in_own_memory,
    offer,
)
from .dispatch import implements
from .memory import require


@implements("cudnnGetConvolutionForwardAlgorithmMaxCount")
def forward_max_count(handle: Any, count: Any) -> None:
    fill_max_count(FORWARD, count)


@implements("cudnnGetConvolutionForwardAlgorithm_v7")
def forward_offer(
    handle: Any,
    srcDesc: Any,
    filterDesc: Any,
    convDesc: Any,
    destDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(
        srcDesc=srcDesc, filterDesc=filterDesc, convDesc=convDesc, destDesc=destDesc
    )
    offer(FORWARD, problem, requestedAlgoCount, returnedAlgoCount, perfResults)


@implements("cudnnFindConvolutionForwardAlgorithm")
def forward_find(
    handle: Any,
    xDesc: Any,
    wDesc: Any,
    convDesc: Any,
    yDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(xDesc=xDesc, wDesc=wDesc, convDesc=convDesc, yDesc=yDesc)
    find_in_own_memory(
        FORWARD, problem, requestedAlgoCount, returnedAlgoCount, perfResults, run_forward
    )


@implements("cudnnFindConvolutionForwardAlgorithmEx")
def forward_find_ex(
    handle: Any,
    xDesc: Any,
    x: int | None,
    wDesc: Any,
    w: int | None,
    convDesc: Any,
    yDesc: Any,
    y: int | None,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
) -> None:
    require(x=x, w=w, y=y)
    problem = Problem.read(xDesc=xDesc, wDesc=wDesc, convDesc=convDesc, yDesc=yDesc)
    find(
        FORWARD,
        problem,
        requestedAlgoCount,
        returnedAlgoCount,
        perfResults,
        lambda: run_forward(problem, x, w, y),
        workSpace,
        workSpaceSizeInBytes if workSpace else 0,
    )


@implements("cudnnGetConvolutionForwardWorkspaceSize")
def forward_workspace_size(
    handle: Any,
    xDesc: Any,
    wDesc: Any,
    convDesc: Any,
    yDesc: Any,
    algo: raw.cudnnConvolutionFwdAlgo_t,
    sizeInBytes: Any,
) -> None:
    problem = Problem.read(xDesc=xDesc, wDesc=wDesc, convDesc=convDesc, yDesc=yDesc)
    fill_workspace_size(FORWARD, problem, algo, sizeInBytes)


@implements("cudnnGetConvolutionBackwardDataAlgorithmMaxCount")
def backward_data_max_count(handle: Any, count: Any) -> None:
    fill_max_count(BACKWARD_DATA, count)


@implements("cudnnGetConvolutionBackwardDataAlgorithm_v7")
def backward_data_offer(
    handle: Any,
    filterDesc: Any,
    diffDesc: Any,
    convDesc: Any,
    gradDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(
        gradDesc=gradDesc, filterDesc=filterDesc, convDesc=convDesc, diffDesc=diffDesc
    )
    offer(BACKWARD_DATA, problem, requestedAlgoCount, returnedAlgoCount, perfResults)


@implements("cudnnFindConvolutionBackwardDataAlgorithm")
def backward_data_find(
    handle: Any,
    wDesc: Any,
    dyDesc: Any,
    convDesc: Any,
    dxDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(dxDesc=dxDesc, wDesc=wDesc, convDesc=convDesc, dyDesc=dyDesc)
    find_in_own_memory(
        BACKWARD_DATA,
        problem,
        requestedAlgoCount,
        returnedAlgoCount,
        perfResults,
        run_backward_data,
    )


@implements("cudnnFindConvolutionBackwardDataAlgorithmEx")
def backward_data_find_ex(
    handle: Any,
    wDesc: Any,
    w: int | None,
    dyDesc: Any,
    dy: int | None,
    convDesc: Any,
    dxDesc: Any,
    dx: int | None,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
) -> None:
    require(dx=dx, w=w, dy=dy)
    problem = Problem.read(dxDesc=dxDesc, wDesc=wDesc, convDesc=convDesc, dyDesc=dyDesc)
    find(
        BACKWARD_DATA,
        problem,
        requestedAlgoCount,
        returnedAlgoCount,
        perfResults,
        lambda: run_backward_data(problem, dx, w, dy),
        workSpace,
        workSpaceSizeInBytes if workSpace else 0,
    )


@implements("cudnnGetConvolutionBackwardDataWorkspaceSize")
def backward_data_workspace_size(
    handle: Any,
    wDesc: Any,
    dyDesc: Any,
    convDesc: Any,
    dxDesc: Any,
    algo: raw.cudnnConvolutionBwdDataAlgo_t,
    sizeInBytes: Any,
) -> None:
    problem = Problem.read(dxDesc=dxDesc, wDesc=wDesc, convDesc=convDesc, dyDesc=dyDesc)
    fill_workspace_size(BACKWARD_DATA, problem, algo, sizeInBytes)


@implements("cudnnGetConvolutionBackwardFilterAlgorithmMaxCount")
def backward_filter_max_count(handle: Any, count: Any) -> None:
    fill_max_count(BACKWARD_FILTER, count)


@implements("cudnnGetConvolutionBackwardFilterAlgorithm_v7")
def backward_filter_offer(
    handle: Any,
    srcDesc: Any,
    diffDesc: Any,
    convDesc: Any,
    gradDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(srcDesc=srcDesc, gradDesc=gradDesc, convDesc=convDesc, diffDesc=diffDesc)
    offer(BACKWARD_FILTER, problem, requestedAlgoCount, returnedAlgoCount, perfResults)


@implements("cudnnFindConvolutionBackwardFilterAlgorithm")
def backward_filter_find(
    handle: Any,
    xDesc: Any,
    dyDesc: Any,
    convDesc: Any,
    dwDesc: Any,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
) -> None:
    problem = Problem.read(xDesc=xDesc, dwDesc=dwDesc, convDesc=convDesc, dyDesc=dyDesc)
    find_in_own_memory(
        BACKWARD_FILTER,
        problem,
        requestedAlgoCount,
        returnedAlgoCount,
        perfResults,
        run_backward_filter,
    )


@implements("cudnnFindConvolutionBackwardFilterAlgorithmEx")
def backward_filter_find_ex(
    handle: Any,
    xDesc: Any,
    x: int | None,
    dyDesc: Any,
    y: int | None,
    convDesc: Any,
    dwDesc: Any,
    dw: int | None,
    requestedAlgoCount: int,
    returnedAlgoCount: Any,
    perfResults: Any,
    workSpace: int | None,
    workSpaceSizeInBytes: int,
) -> None:
    require(x=x, dw=dw, y=y)
    problem = Problem.read(xDesc=xDesc, dwDesc=dwDesc, convDesc=convDesc, dyDesc=dyDesc)
    find(
        BACKWARD_FILTER,
        problem,
        requestedAlgoCount,
        returnedAlgoCount,
        perfResults,
        lambda: run_backward_filter(problem, x, dw, y),
        workSpace,
        workSpaceSizeInBytes if workSpace else 0,
    )


@implements("cudnnGetConvolutionBackwardFilterWorkspaceSize")
def backward_filter_workspace_size(
    handle: Any,
    xDesc: Any,
    dyDesc: Any,
    convDesc: Any,
    gradDesc: Any,
    algo: raw.cudnnConvolutionBwdFilterAlgo_t,
    sizeInBytes: Any,
) -> None:
    problem = Problem.read(xDesc=xDesc, gradDesc=gradDesc, convDesc=convDesc, dyDesc=dyDesc)
    fill_workspace_size(BACKWARD_FILTER, problem, algo, sizeInBytes)
