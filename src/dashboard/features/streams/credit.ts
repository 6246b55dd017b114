/** Tells a lack of credit from other obstacles. The banner on every page says it in full, with what to do. Pure: no I/O, no clock. */
import type { ReadinessIssue } from '../../../service/client/index.ts';

const CREDIT_CODES: readonly string[] = ['insufficient_credits', 'media_awaits_credit'];

export const isOfCredit = ({ code }: Pick<ReadinessIssue, 'code'>): boolean => CREDIT_CODES.includes(code);

/** In place of the reasons of a stream that lacks nothing but credit. */
export const WAITS_FOR_CREDIT = 'Waits for credit.';

/** Returns the issues besides a lack of credit, which may have several. */
export const withoutCredit = (issues: readonly ReadinessIssue[]): ReadinessIssue[] =>
  issues.filter((issue) => !isOfCredit(issue));
