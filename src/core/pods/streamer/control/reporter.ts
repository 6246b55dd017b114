/**
 * Reports to the operator's Service (push-plan.ts says when), so that the operator need not ask. The stream does not depend on it: one
 * request at a time, with a time limit, and nothing waits in a queue. It has no timer at rest: the broadcaster's loop calls `check`.
 *
 * The control token of the stream shows who reports. It travels in clear inside the cluster, as it does from the operator to the pod.
 */
import type { ClientRequest } from 'node:http';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger } from '../../../lib/log.ts';
import type { StreamerReport } from '../../../protocol/report.ts';
import { REPORTS_PATH } from '../../../resources/common/names.ts';
import { afterPush, describeChange, isPushDue, NOTHING_PUSHED } from './push-plan.ts';

/** An ES import of node:http loads a whole HTTP client besides (http.ts). */
const { Agent, request } = process.getBuiltinModule('node:http');

const TIMEOUT_MS = 2_000;
const ACCEPTED = 204;
/** Of several operators one accepts reports. The others answer 421, and a new connection to the Service may lead elsewhere. */
const MISDIRECTED = 421;
const MAX_CONNECTIONS = 4;
/** Between two looks at what may have changed. Outputs announce their changes themselves. */
const CHECK_MS = 900;

export interface ReporterOptions {
  /** Base URL of the operator's Service. */
  url: string;
  podUid: string;
  /** Returns the control token; called for each report, since it may change. */
  token: () => Promise<string | undefined>;
  report: () => StreamerReport;
  clock: Clock;
  log: Logger;
}

export class Reporter {
  readonly #options: ReporterOptions;
  readonly #url: URL;
  /** The connection serves the reports of one moment; the operator closes it after some seconds. */
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #state = NOTHING_PUSHED;
  #checkedMs = Number.NEGATIVE_INFINITY;
  #pushing: Promise<void> | undefined;
  #request: ClientRequest | undefined;
  #isClosed = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#url = new URL(`${REPORTS_PATH}/${encodeURIComponent(options.podUid)}`, options.url);
  }

  /** True while the operator accepts this pod's reports. */
  get isHeard(): boolean {
    return this.#state.accepted !== undefined && this.#state.failures === 0;
  }

  /** Pushes the report if it is time to. May be called often. */
  readonly check = (): void => {
    const now = this.#options.clock.monotonicMs();
    if (now - this.#checkedMs >= CHECK_MS) this.#consider(now);
  };

  /** Like `check`, for a moment in which something has changed. */
  readonly noteChange = (): void => {
    this.#consider(this.#options.clock.monotonicMs());
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#request?.destroy();
    await this.#pushing;
    this.#agent.destroy();
  }

  #consider(now: number): void {
    if (this.#isClosed) return;
    if (this.#pushing || now < this.#state.notBeforeMs) {
      // So that the next `check` is not too soon.
      this.#checkedMs = Number.NEGATIVE_INFINITY;
      return;
    }
    this.#checkedMs = now;
    const report = this.#options.report();
    const change = describeChange(report);
    if (!isPushDue(this.#state, change, now)) return;
    this.#pushing = this.#push(report, change).finally(() => {
      this.#pushing = undefined;
    });
  }

  async #push(report: StreamerReport, change: string): Promise<void> {
    const { clock, log } = this.#options;
    let isAccepted = false;
    try {
      const status = await this.#send(JSON.stringify(report));
      isAccepted = status === ACCEPTED;
      if (!isAccepted) throw new Error(`The operator answered with status ${status}.`);
    } catch (err) {
      if (!this.#isClosed && this.#state.failures === 0)
        log.info({ err }, 'the operator does not accept reports; it asks this pod instead');
    }
    this.#state = afterPush(this.#state, { change, isAccepted }, clock.monotonicMs(), Math.random());
  }

  /** Returns the status of the operator that leads, or of the last one that answered. */
  async #send(body: string): Promise<number> {
    const token = await this.#options.token();
    if (token === undefined) throw new Error('This pod has no control token.');
    let status = MISDIRECTED;
    for (let n = 0; n < MAX_CONNECTIONS && status === MISDIRECTED; n++) status = await this.#post(body, token);
    return status;
  }

  #post(body: string, token: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(this.#url, { method: 'POST', agent: this.#agent, headers });
    this.#request = sent;
    const timer = setTimeout(() => sent.destroy(new Error('The operator did not answer in time.')), TIMEOUT_MS);
    let status: number | undefined;
    sent.once('response', (response) => {
      status = response.statusCode;
      response.resume();
    });
    // The operator may close a kept connection in the moment in which it is used again.
    sent.once('error', (error) => (sent.reusedSocket ? resolve(MISDIRECTED) : reject(error)));
    sent.once('close', () => {
      clearTimeout(timer);
      this.#request = undefined;
      if (status === undefined) reject(new Error('The operator closed the connection.'));
      else resolve(status);
    });
    sent.end(body);
    return promise;
  }
}
