import { useMutation } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Destination } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';

/** Tests a destination on the way to a stream, so that a wrong key is found before viewers wait for the picture. */
export function useDestinationCheck() {
  const { destinations } = useApi().calls;
  const running = useRef<Promise<unknown>>(Promise.resolve());
  const { mutateAsync, variables, data, error, isPending } = useMutation({
    mutationFn: ({ id }: Destination) => destinations.test(id),
  });
  return {
    destination: variables,
    result: data,
    error,
    isPending,
    begin: (destination: Destination) => {
      running.current = mutateAsync(destination).catch(() => undefined);
    },
    /** Resolves when no test runs: a stream that starts meanwhile would find its destination taken. */
    ended: () => running.current,
  };
}

export type DestinationCheck = ReturnType<typeof useDestinationCheck>;
