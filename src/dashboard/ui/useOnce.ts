import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { problemText } from '../api/problem.ts';

/** Sends something once, however often a button is pressed. `explain` makes the sentence of `problem` from an error. */
export function useOnce<Input, Result>(
  send: (input: Input) => Promise<Result>,
  onDone: (result: Result) => unknown,
  explain: (error: unknown) => string = problemText,
) {
  const sending = useRef(false);
  const { mutate, error, isPending, isSuccess, reset } = useMutation({
    mutationFn: send,
    onSuccess: (result) => onDone(result),
    onSettled: () => {
      sending.current = false;
    },
  });
  return {
    busy: isPending,
    done: isSuccess,
    error,
    problem: error ? explain(error) : undefined,
    forget: reset,
    run: (input: Input) => {
      if (sending.current) return;
      sending.current = true;
      mutate(input);
    },
  };
}
