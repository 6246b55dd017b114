/** Collects what is known of an object: what the account may not see is named, and the rest is shown all the same. */
import { EVENTS, type KubeEvent, type Pod } from '../../kube/core.ts';
import { type Kube, KubeError, type Stored } from '../../kube/types.ts';
import { describeFailure } from '../shell/failure.ts';
import { findMainContainer, logPath } from '../streams/logs.ts';
import { readEventTime } from './story.ts';
import { parseLog, type Word } from './words.ts';

const MAX_EVENTS = 10;
const TAIL_LINES = 300;
const MAX_LOG_BYTES = 256 * 1024;

/** Reads parts of the facts, and remembers a sentence for each that cannot be read. */
export class Reader {
  readonly kube: Kube;
  readonly namespace: string;
  readonly unseen: string[] = [];

  constructor(kube: Kube, namespace: string) {
    this.kube = kube;
    this.namespace = namespace;
  }

  /** Returns `otherwise` where Kubernetes has no answer or forbids it. */
  async attempt<T>(promise: Promise<T>, otherwise: T): Promise<T> {
    try {
      return await promise;
    } catch (error) {
      if (!(error instanceof KubeError)) throw error;
      if (error.status !== 404) this.unseen.push(describeFailure(error, this.namespace) ?? error.message);
      return otherwise;
    }
  }

  /** The last events of objects of these names, the oldest first. */
  async events(...objects: { kind: string; name: string }[]): Promise<Stored<KubeEvent>[]> {
    const { namespace } = this;
    const lists = objects.map(({ kind, name }) =>
      this.attempt(
        this.kube.list(EVENTS, { namespace, fieldSelector: `involvedObject.kind=${kind},involvedObject.name=${name}` }),
        [],
      ),
    );
    const all = (await Promise.all(lists)).flat();
    return all.sort((a, b) => Date.parse(readEventTime(a)) - Date.parse(readEventTime(b))).slice(-MAX_EVENTS);
  }

  /** The last log lines of a pod, or those before its last restart. */
  async words(pod: Pod): Promise<Word[]> {
    const container = findMainContainer(pod);
    const restarts = pod.status?.containerStatuses?.find(({ name }) => name === container)?.restartCount ?? 0;
    for (const previous of restarts > 0 ? [false, true] : [false]) {
      const options = { container, previous, tailLines: TAIL_LINES, limitBytes: MAX_LOG_BYTES };
      const { status, text } = await this.kube.raw('GET', logPath(pod, options));
      const words = status === 200 ? parseLog(text) : [];
      if (words.length > 0) return words;
      // 400: the container has not started, or has no earlier run.
      if (status !== 200 && status !== 400 && status !== 404) {
        const why =
          status === 403 ? 'your account may not get pods/log' : `the API server responded with status ${status}`;
        this.unseen.push(`The log of pod "${pod.metadata.name}" could not be read: ${why}.`);
        return [];
      }
    }
    return [];
  }
}
