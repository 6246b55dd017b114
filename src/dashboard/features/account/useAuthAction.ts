import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { peopleText } from './sentences.ts';

/** Sends something once, however often a button is pressed. `problem`: what people are told of why it did not work. */
export function useOnce<Input, Result>(send: (input: Input) => Promise<Result>, onDone: (result: Result) => unknown) {
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
    problem: error ? peopleText(error) : undefined,
    forget: reset,
    run: (input: Input) => {
      if (sending.current) return;
      sending.current = true;
      mutate(input);
    },
  };
}
