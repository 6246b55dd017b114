/**
 * Sends one HTTP request and collects the whole response as text. undici's `request()` makes a stream and an AbortSignal for each
 * request; its handlers, which this uses, make neither.
 */
import type { Dispatcher } from 'undici';

type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2];

export interface TextResponse {
  status: number;
  headers: Headers;
  text: string;
}

export interface TextRequestOptions {
  /** For the whole exchange, in milliseconds. It ends a response that trickles; undici's own limits end a silence. */
  timeoutMs: number;
  /** Called once: with the status when the headers came, or with 0 when none came. */
  onHeaders: (status: number) => void;
}

/** Resolves to the response of any status. Rejects with undici's error, or with a TimeoutError. */
export function requestText(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  options: TextRequestOptions,
): Promise<TextResponse> {
  return new Promise((resolve, reject) => {
    const handler = new TextHandler(resolve, reject, options);
    try {
      dispatcher.dispatch(request, handler);
    } catch (error) {
      handler.fail(error as Error);
    }
  });
}

class TextHandler implements Dispatcher.DispatchHandler {
  readonly #resolve: (response: TextResponse) => void;
  readonly #reject: (error: Error) => void;
  readonly #onHeaders: TextRequestOptions['onHeaders'];
  readonly #timer: NodeJS.Timeout;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  /** The error that this request ended with before its response did. */
  #failure: Error | undefined;
  #status = 0;
  #headers: Headers = {};

  constructor(
    resolve: (response: TextResponse) => void,
    reject: (error: Error) => void,
    { timeoutMs, onHeaders }: TextRequestOptions,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onHeaders = onHeaders;
    this.#timer = setTimeout(() => this.#expire(timeoutMs), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // It waited for a connection for too long, so it must not be sent any more.
    if (this.#failure) controller.abort(this.#failure);
    this.#controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#onHeaders(status);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    const [first, ...more] = this.#chunks;
    const body = first && (more.length === 0 ? first : Buffer.concat(this.#chunks));
    this.#resolve({ status: this.#status, headers: this.#headers, text: body?.toString('utf8') ?? '' });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = error;
    clearTimeout(this.#timer);
    if (this.#status === 0) this.#onHeaders(0);
    this.#reject(error);
  }

  #expire(timeoutMs: number): void {
    const error = new DOMException(`There was no whole response within ${timeoutMs} ms.`, 'TimeoutError');
    this.fail(error);
    this.#controller?.abort(error);
  }
}
