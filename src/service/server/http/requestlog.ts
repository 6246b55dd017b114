/**
 * Creates the logger of one request, whose lines contain the request's id. Most requests log nothing, so it builds those fields
 * only for a line to write.
 */
import type { FastifyBaseLogger } from 'fastify';
import type { Bindings, ChildLoggerOptions, LogFn } from 'pino';
import { type Logger, NAMES_TRACE } from '../../../core/lib/log.ts';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export class RequestLog implements FastifyBaseLogger {
  declare fatal: LogFn;
  declare error: LogFn;
  declare warn: LogFn;
  declare info: LogFn;
  declare debug: LogFn;
  declare trace: LogFn;
  readonly parent: Logger;
  readonly #bindings: () => Bindings;
  #own: Logger | undefined;

  constructor(parent: Logger, bindings: () => Bindings) {
    this.parent = parent;
    this.#bindings = bindings;
  }
  get level(): FastifyBaseLogger['level'] {
    return this.parent.level;
  }
  silent(): void {}
  child(bindings: Bindings, options?: ChildLoggerOptions): FastifyBaseLogger {
    return this.own().child(bindings, options);
  }
  own(): Logger {
    this.#own ??= Object.assign(this.parent.child(this.#bindings()), { [NAMES_TRACE]: true });
    return this.#own;
  }
}

for (const level of LEVELS)
  RequestLog.prototype[level] = function (this: RequestLog, ...line: [unknown]) {
    if (this.parent.isLevelEnabled(level)) this.own()[level](...line);
  };
