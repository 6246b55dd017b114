/** Makes a checklist of a stream's readiness. Pure: no I/O, no clock. */
import type { ReadinessIssue } from '../../../service/client/index.ts';
import type { Readiness } from '../../api/api.ts';
import { withoutCredit } from './credit.ts';

/** The stream goes on air in spite of these. */
export const formatWarnings = ({ warnings }: Readiness): string[] =>
  warnings.map(({ message, fix }) => `${message} ${fix}`);

export interface ChecklistItem {
  label: string;
  /** The issues that keep it from being ticked off; none: it is fine. */
  issues: ReadinessIssue[];
  /** It waits for credit, of which the banner says all. */
  isUnpaid?: boolean;
  /** The form that mends it. */
  mend?: 'edit' | 'schedule';
}

const CHECKS = [
  { label: 'Media', mend: 'edit', fields: ['videoUploadObjectID', 'playlistIDs', 'audioPlaylistIDs'] },
  { label: 'Destination', mend: 'edit', fields: ['destinationIDs', 'destinationID'] },
  { label: 'Schedule', mend: 'schedule', fields: ['scheduleStartAt', 'scheduleEndAt', 'recurrence'] },
] as const;

/** Codes whose fix is to wait: nothing on the page would mend them sooner. */
const PASSING: readonly string[] = ['media_importing', 'media_preparing', 'media_awaits_gate', 'not_checked'];

export function buildChecks({ issues }: Readiness): ChecklistItem[] {
  const known: ChecklistItem[] = CHECKS.map(({ label, mend, fields }) => {
    const all = issues.filter(({ field }) => (fields as readonly string[]).includes(field));
    const own = withoutCredit(all);
    const mendable = own.some(({ code }) => !PASSING.includes(code));
    return { label, issues: own, ...(own.length < all.length && { isUnpaid: true }), ...(mendable && { mend }) };
  });
  const fields = CHECKS.flatMap((check) => check.fields) as readonly string[];
  const others = issues.filter(({ field }) => !fields.includes(field));
  const room = withoutCredit(others);
  return [
    ...known,
    ...(room.length < others.length ? [{ label: 'Credit', issues: [], isUnpaid: true }] : []),
    ...(room.length > 0 ? [{ label: 'Room to run', issues: room }] : []),
  ];
}
