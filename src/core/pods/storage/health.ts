/** Records how a storage answers: every request passes here, so that errors are counted and the state is known. */
import type { Logger } from '../../lib/log.ts';
import { StorageError } from './storage.ts';

export class StorageHealth {
  /** Failed requests, by StorageError's code; a missing object is no error. */
  readonly errors: Record<string, number> = {};
  /** Message of the last failure; undefined when the last request succeeded. Free of secrets. */
  failure: string | undefined;
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  async ask<T>(key: string, question: () => Promise<T>): Promise<T> {
    try {
      const answer = await question();
      this.#answered();
      return answer;
    } catch (error) {
      if (error instanceof StorageError) this.#failed(key, error);
      throw error;
    }
  }

  #answered(): void {
    if (this.failure !== undefined) this.#log.info('the storage responds again');
    this.failure = undefined;
  }

  #failed(key: string, error: StorageError): void {
    if (error.code === 'not_found') {
      this.#answered();
      return;
    }
    this.errors[error.code] = (this.errors[error.code] ?? 0) + 1;
    if (error.code !== 'unavailable') return;
    if (this.failure === undefined) this.#log.warn({ storageKey: key, err: error }, 'the storage does not respond');
    this.failure = error.message;
  }
}
