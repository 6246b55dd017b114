/** A cron expression as a sentence; its words are loaded when the first one is shown. */
import { useQuery } from '@tanstack/react-query';
import { READER_HOUR12 } from '../../lib/format.ts';

/** Undefined while it is being loaded, and for a text that is no cron expression: the server finds the mistake. */
export function useCronWords(cron: string): string | undefined {
  const { data } = useQuery({
    queryKey: ['words of cron', cron],
    queryFn: async () => {
      const { default: cronstrue } = await import('cronstrue');
      try {
        return cronstrue.toString(cron, { use24HourTimeFormat: !READER_HOUR12, trimHoursLeadingZero: READER_HOUR12 });
      } catch {
        return null;
      }
    },
    enabled: cron !== '',
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data ?? undefined;
}
