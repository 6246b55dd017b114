import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import { newKey } from '../../service/client/send.ts';
import { type FormErrors, findFieldErrors } from './fieldErrors.ts';

interface SubmitOptions<Values, Result> {
  /** Sends it. With the same key the server does the same thing once, however often it is sent. */
  send: (values: Values, idempotencyKey: string) => Promise<Result>;
  /** The form's fields, as the server names them. */
  fields: readonly string[];
  /** The part of the values that the result is made of, where that is not all of them. */
  made?: (values: Values) => unknown;
  onMistakes: (fields: FormErrors['fields']) => void;
  onDone: (result: Result) => unknown;
}

/**
 * Sends a form once. Pressing twice sends it once; sent again after an answer was lost, it has the key of the first time, so
 * that nothing is made twice; changed, it has a new one.
 */
export function useSubmit<Values, Result>(options: SubmitOptions<Values, Result>) {
  const { send, fields, made = (values) => values, onMistakes, onDone } = options;
  const sent = useRef<{ body: string; key: string }>(undefined);
  const sending = useRef(false);
  const { mutate, error, isPending } = useMutation({
    mutationFn: (values: Values) => {
      const body = JSON.stringify(made(values));
      if (sent.current?.body !== body) sent.current = { body, key: newKey() };
      return send(values, sent.current.key);
    },
    onSuccess: (result) => onDone(result),
    onError: (failure) => onMistakes(findFieldErrors(failure, fields).fields),
    onSettled: () => {
      sending.current = false;
    },
  });
  return {
    busy: isPending,
    /** The part of the error that belongs to no field. */
    problem: error ? findFieldErrors(error, fields).rest : undefined,
    submit: (values: Values) => {
      if (sending.current) return;
      sending.current = true;
      mutate(values);
    },
  };
}
