# PyObject *launch(PyObject *table, PyObject *): the table is a bytes object, see `machine_code.py`.
    .intel_syntax noprefix
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
    .set CALLS, 88                      # how many, and where the first one is in the table
    .set LISTS, 104

launch:
    push rbx                            # the table
    push rbp                            # the state of the thread
    push r12                            # the number of the call
    push r13                            # the list of counters
    push r14                            # the call
    push r15                            # the next call
    sub rsp, 8
    lea rbx, [rdi + 32]                 # behind the head of a bytes object
    lea rsi, [rbx + LISTS]

    mov rcx, [rsi]                      # words of which none may be other than 0
zeros:
    add rsi, 8
    dec rcx
    js pointers
    mov rax, [rsi]
    cmp qword ptr [rax], 0
    jne slow
    jmp zeros
pointers:                               # words of which none may be 0
    mov rcx, [rsi]
next_pointer:
    add rsi, 8
    dec rcx
    js enter
    mov rax, [rsi]
    cmp qword ptr [rax], 0
    je slow
    jmp next_pointer
enter:
    mov r13, rsi
    mov rcx, [rsi]
count_up:
    add rsi, 8
    dec rcx
    js release
    mov rax, [rsi]
    inc qword ptr [rax]
    jmp count_up
release:
    call [rbx + SAVE]
    mov rbp, rax
    xor r12d, r12d
    mov r14, rbx
    add r14, [rbx + CALLS + 8]

next_call:                              # address, words of the stack, 6 integers, 8 doubles
    mov rcx, [r14 + 8]
    lea rsi, [r14 + 16]
    lea rax, [rcx * 8]
    sub rsp, rax
    mov rdi, rsp
    rep movsq
    lea r15, [rsi + 112]
    movq xmm0, [rsi + 48]
    movq xmm1, [rsi + 56]
    movq xmm2, [rsi + 64]
    movq xmm3, [rsi + 72]
    movq xmm4, [rsi + 80]
    movq xmm5, [rsi + 88]
    movq xmm6, [rsi + 96]
    movq xmm7, [rsi + 104]
    mov rax, rsi
    mov rdi, [rax]
    mov rsi, [rax + 8]
    mov rdx, [rax + 16]
    mov rcx, [rax + 24]
    mov r8, [rax + 32]
    mov r9, [rax + 40]
    xor eax, eax
    call [r14]
    mov rcx, [r14 + 8]
    lea rsp, [rsp + rcx * 8]
    mov r14, r15
    test eax, eax
    jne failed
    inc r12
    cmp r12, [rbx + CALLS]
    jb next_call

    call leave
    mov rcx, [rsi]                      # words that say that something was closed meanwhile
next_closed:
    add rsi, 8
    dec rcx
    js done
    mov rax, [rsi]
    cmp qword ptr [rax], 0
    je next_closed
    mov rdi, [rbx + LATE]
    call [rbx + CALL_NO_ARGS]
    mov rdi, rax
    call [rbx + DECREF]
done:
    mov rdi, [rbx + RESULT]
    call [rbx + INCREF]
    mov rax, [rbx + RESULT]
end:
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

slow:
    mov rdi, [rbx + SLOW]
    call [rbx + CALL_NO_ARGS]
    jmp end

failed:                                 # told by number << 32 | status
    mov r14d, eax
    call leave
    shl r12, 32
    lea rdi, [r12 + r14]
    call [rbx + FROM_LONG]
    mov r14, rax
    mov rdi, [rbx + FAILED]
    mov rsi, rax
    xor edx, edx                        # no more arguments
    xor eax, eax
    call [rbx + CALL_WITH]
    mov r12, rax
    mov rdi, r14
    call [rbx + DECREF]
    mov rax, r12
    jmp end

leave:                                  # take the GIL, and count down; rsi is then behind the list
    sub rsp, 8
    mov rdi, rbp
    call [rbx + RESTORE]
    mov rsi, r13
    mov rcx, [rsi]
count_down:
    add rsi, 8
    dec rcx
    js left
    mov rax, [rsi]
    dec qword ptr [rax]
    jmp count_down
left:
    add rsp, 8
    ret
