/**
 * Declares the errors of calls as classes: one for each code of the API's table, made from that table.
 * Pure: no I/O, no clock.
 */
import type { Problem as KnownProblem } from '../domain/problem/record.ts';
import { ERRORS, type ErrorCode } from '../lib/errors.ts';

/** A newer server may have codes that this client does not know. */
type Problem = Omit<KnownProblem, 'code'> & { code: string };

/** Whatever a call rejects with, but for the reason of a signal that aborted it. */
export class LoopstreamError extends Error {
  override name = 'LoopstreamError';
  /** Whether the same call may succeed later (contract: 429 and 5xx; other 4xx are permanent). */
  readonly isPassing: boolean = false;
  /** Seconds that the server asked to wait. */
  readonly retryAfterSeconds: number | undefined = undefined;
}

/** No answer came, or only a part of one, or not in time; `cause` tells more. */
export class ConnectionError extends LoopstreamError {
  override name = 'ConnectionError';
  override readonly isPassing = true;
}

/** An answer that is not a success; `message` is a sentence for people. */
export class ProblemError extends LoopstreamError {
  override name = 'ProblemError';
  readonly status: number;
  /** Stable; what programs branch on. `http_<status>` when it was not the API that answered, but a proxy, say. */
  readonly code: string;
  /** The whole document (RFC 9457). */
  readonly problem: Problem;
  /** The way to mend it, as docs/errors has it; empty for a code that is newer than this client. */
  readonly fix: string;
  /** By which the server's log is found. */
  readonly requestId: string | undefined;
  override readonly retryAfterSeconds: number | undefined;
  override readonly isPassing: boolean;

  constructor(
    problem: Problem,
    about: { requestId?: string | undefined; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(problem.detail);
    this.problem = problem;
    this.status = problem.status;
    this.code = problem.code;
    this.fix = isKnown(problem.code) ? ERRORS[problem.code].fix : '';
    this.requestId = about.requestId;
    this.retryAfterSeconds = about.retryAfterSeconds;
    this.isPassing = problem.status === 429 || problem.status >= 500;
  }

  /** With `validation_failed`: each field or parameter that is wrong. */
  get errors(): NonNullable<Problem['errors']> {
    return this.problem.errors ?? [];
  }

  /** With `stream_not_ready`: what would stop the stream from starting. */
  get issues(): NonNullable<Problem['issues']> {
    return this.problem.issues ?? [];
  }
}

type Pascal<Code extends string> = Code extends `${infer Head}_${infer Rest}`
  ? `${Capitalize<Head>}${Pascal<Rest>}`
  : Capitalize<Code>;

/** `problems.StreamNotReady` for `stream_not_ready`, and so on. */
type Problems = { readonly [Code in ErrorCode as Pascal<Code>]: typeof ProblemError };

const isKnown = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);

const formatClassName = (code: string): string =>
  code.replace(/(?:^|_)(.)/g, (_all, letter: string) => letter.toUpperCase());

/** For `instanceof`: each code's own class. A code that is newer than this client is a plain ProblemError. */
export const problems = Object.fromEntries(
  Object.keys(ERRORS).map((code) => {
    const name = formatClassName(code);
    return [
      name,
      class extends ProblemError {
        override name = name;
      },
    ];
  }),
) as unknown as Problems;

const isDocument = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && typeof (body as Problem).code === 'string';

/** Seconds or an HTTP date (RFC 9110, section 10.2.3), as seconds from `now`. */
function retryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The error of an answer; `body` as parsed, undefined when it is no JSON, `now` in milliseconds since 1970. */
export function createProblem(status: number, headers: Headers, body: unknown, now: number): ProblemError {
  const about = {
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterSeconds: retryAfter(headers.get('retry-after'), now),
  };
  const title = 'Request failed';
  const detail = `The server answered ${status} without saying why.`;
  const base = { type: 'about:blank', title, status, detail, code: `http_${status}` };
  if (!isDocument(body)) return new ProblemError(base, about);
  const { [formatClassName(body.code) as keyof Problems]: Known = ProblemError } = isKnown(body.code) ? problems : {};
  return new Known({ ...base, ...body, status }, about);
}
