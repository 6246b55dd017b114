/** When a schedule is on air; the rules are loaded when the first one is shown. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Schedule } from '../../../core/resources/stream/spec.ts';
import { useNow } from '../../api/context.tsx';
import type { ShownSchedule } from './windows.ts';

/** Undefined without a schedule, and while the rules are being loaded. */
export function useWindows(schedule: Schedule | undefined): ShownSchedule | undefined {
  const now = useNow(schedule !== undefined);
  // Windows open and close at whole minutes, and seconds of a length are rare.
  const minute = Math.floor(now / 60_000) * 60_000;
  const { data: rules } = useQuery({
    queryKey: ['rules of schedules'],
    queryFn: () => import('./windows.ts'),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: schedule !== undefined,
  });
  const key = JSON.stringify(schedule);
  return useMemo(
    () => (rules && key ? rules.computeWindows(JSON.parse(key), new Date(minute)) : undefined),
    [rules, key, minute],
  );
}
