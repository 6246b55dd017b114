import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { describeStorage } from './storage.ts';

/** A person has stopped typing then. */
const PAUSE_MS = 600;

/**
 * Says how much storage an edit takes, which the server estimates by a dry run; undefined where it takes none, or is no edit yet. `key`
 * names the object that is edited.
 */
export function useStorageSentence<Changes extends object>(
  key: readonly string[],
  changes: Changes,
  tryOut: (changes: Changes, signal: AbortSignal) => Promise<{ storageBytes: number }>,
): string | undefined {
  const [body] = useDebouncedValue(JSON.stringify(changes), PAUSE_MS);
  const { data } = useQuery({
    queryKey: [...key, 'storage', body],
    queryFn: ({ signal }) => tryOut(JSON.parse(body) as Changes, signal),
    enabled: body !== '{}',
    retry: false,
  });
  return body === JSON.stringify(changes) && data ? describeStorage(data.storageBytes) : undefined;
}
