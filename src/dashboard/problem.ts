/**
 * Problem documents (RFC 9457) as the API answers them, turned into one error type that pages show.
 * Pure: no I/O, no clock.
 */
import type { ReadinessIssue } from '../streams/record.ts';

export type { ReadinessIssue };

/** An answer that is not 2xx, or no answer at all (`status` 0). `message` is a sentence for people. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly issues: readonly ReadinessIssue[];
  /** Seconds to wait before the next try, from Retry-After. */
  readonly retryAfter: number | undefined;

  constructor(fields: {
    status: number;
    code: string;
    title: string;
    detail: string;
    issues?: readonly ReadinessIssue[];
    retryAfter?: number | undefined;
  }) {
    super(fields.detail);
    this.name = 'ApiProblem';
    this.status = fields.status;
    this.code = fields.code;
    this.title = fields.title;
    this.issues = fields.issues ?? [];
    this.retryAfter = fields.retryAfter;
  }

  /** Whether the same request may succeed later: no answer, 429 or 5xx (contract: other 4xx are permanent). */
  get passing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads a list of readiness issues; entries that are none are left out. */
export function parseIssues(value: unknown): ReadinessIssue[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap((issue) => {
    const code = text(issue.code);
    const message = text(issue.message);
    if (code === undefined && message === undefined) return [];
    return [
      {
        code: code ?? 'unknown',
        message: message ?? (code ?? '').replaceAll('_', ' '),
        fix: text(issue.fix) ?? '',
        field: text(issue.field) ?? '',
        since: text(issue.since) ?? '',
      },
    ];
  });
}

/** Said when an answer carries no problem document, for example one of a proxy in between. */
function plainDetail(status: number): string {
  if (status >= 500) return `The server answered ${status}. Try again in a moment.`;
  return status >= 400 ? `The server refused this (${status}).` : 'Something other than the loopstream API answered.';
}

/** Turns an answer's body, already parsed or undefined, into the error of that answer. */
export function parseProblem(status: number, body: unknown, retryAfter?: string | null): ApiProblem {
  const doc = isRecord(body) ? body : {};
  const seconds = Number(retryAfter);
  return new ApiProblem({
    status,
    code: text(doc.code) ?? `http_${status}`,
    title: text(doc.title) ?? 'Request failed',
    detail: text(doc.detail) ?? text(doc.title) ?? plainDetail(status),
    issues: parseIssues(doc.issues),
    retryAfter: retryAfter && Number.isFinite(seconds) ? seconds : undefined,
  });
}

/** The error of a request that got no answer. */
export const unreachable = (): ApiProblem =>
  new ApiProblem({
    status: 0,
    code: 'unreachable',
    title: 'No connection',
    detail: 'The loopstream server does not answer. Your streams keep running without this page.',
  });

/** The sentence to show for any error. */
export const problemText = (error: unknown): string =>
  error instanceof ApiProblem ? error.message : 'Something went wrong in this page. Reload it and try again.';
