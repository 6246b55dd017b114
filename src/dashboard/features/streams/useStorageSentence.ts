import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { StreamUpdate } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { describeStorage } from './editEffects.ts';

/** A person has stopped typing then. */
const PAUSE_MS = 600;

/** Says how much storage an edit takes, which the server estimates by a dry run; undefined where it takes none, or is no edit yet. */
export function useStorageSentence(id: string, changes: StreamUpdate): string | undefined {
  const { streams } = useApi().calls;
  const [body] = useDebouncedValue(JSON.stringify(changes), PAUSE_MS);
  const { data } = useQuery({
    queryKey: ['stream', id, 'storage', body],
    queryFn: ({ signal }) => streams.update(id, JSON.parse(body), { dryRun: true, signal }),
    enabled: body !== '{}',
    retry: false,
  });
  return body === JSON.stringify(changes) && data ? describeStorage(data.storageBytes) : undefined;
}
