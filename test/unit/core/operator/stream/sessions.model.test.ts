/** Tests, for any fate of pods, operator and meter, that every second on air is counted once, and no other. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../../src/core/kube/core.ts';
import { kubeTime } from '../../../../../src/core/lib/clock.ts';
import { computeSessions, readPodTime } from '../../../../../src/core/operator/stream/sessions.ts';
import type { Run } from '../../../../../src/core/protocol/report.ts';
import type { LoopStream } from '../../../../../src/core/resources/stream/resource.ts';
import { lastNumber, MAX_SESSIONS } from '../../../../../src/core/resources/stream/sessions.ts';
import { at, meta, NOW, stream } from '../../../../kit/make/operator.ts';

/** `since`: seconds after NOW. */
const run = (number: number, onAirSeconds: number, since = 0): Run => ({
  run: number,
  startedAt: kubeTime(at(since)),
  lastAt: kubeTime(at(since + Math.max(60, onAirSeconds))),
  onAirSeconds,
});
/** The true state of a pod: its processes count tenths of a second on air. */
class ModelPod {
  readonly uid: string;
  runs: { run: number; tenths: number; since: number }[] = [];
  words: Run[] | undefined;
  over = false;
  onAir = false;
  constructor(uid: string) {
    this.uid = uid;
  }
  get told(): Run[] {
    return this.runs
      .filter(({ tenths }) => tenths > 0)
      .map(({ run: number, tenths, since }) => ({
        ...run(number, tenths / 10, since),
        lastAt: kubeTime(at(since + tenths / 10)),
      }));
  }
  /** `since`: seconds after NOW. */
  begin(since: number): void {
    this.onAir = false;
    this.runs = [...this.runs, { run: (this.runs.at(-1)?.run ?? 0) + 1, tenths: 0, since }].slice(-24);
  }
  end(): void {
    this.words = this.told;
    this.onAir = false;
  }
}

/** A stream, its operator and its meter, with every possible event. */
class Model {
  status: NonNullable<LoopStream['status']> = {};
  pods: ModelPod[] = [];
  /** The operator's memory of its pods' reports. */
  memory = new Map<string, Run[]>();
  /** The meter's counts by number; they outlive the meter. */
  charged = new Map<number, number>();
  truth = 0;
  /** Tenths of a second since NOW. */
  clock = 0;
  #pods = 0;

  air(tenths: number): void {
    this.clock += tenths;
    for (const pod of this.pods) {
      const last = pod.runs.at(-1);
      if (pod.over || !last) continue;
      pod.onAir = true;
      last.tenths += tenths;
      this.truth += tenths;
    }
  }
  addPod(): void {
    if (this.pods.length >= 2) return;
    const pod = new ModelPod(`pod-${++this.#pods}`);
    pod.begin(this.clock / 10);
    this.pods.push(pod);
  }
  restart(): void {
    const pod = this.pods.find(({ over }) => !over);
    pod?.end();
    pod?.begin(this.clock / 10);
  }
  remove(graceful: boolean): void {
    const pod = this.pods.find(({ over }) => !over);
    if (!pod) return;
    if (graceful) pod.end();
    pod.over = true;
    pod.onAir = false;
  }
  ask(): void {
    for (const pod of this.pods) if (!pod.over) this.memory.set(pod.uid, pod.told);
  }
  /** The operator reconciles; it may crash before its write, or before it removes finalizers of pods. */
  look(until: 'read' | 'written' | 'done'): void {
    const accounts = this.pods.map((pod) => {
      const words = JSON.stringify({ runs: pod.words ?? [] });
      const thisPod: Pod = {
        metadata: { ...meta(pod.uid), uid: pod.uid },
        spec: {},
        status: {
          phase: pod.over ? 'Failed' : 'Running',
          conditions: [{ type: 'Ready', status: pod.onAir ? 'True' : 'False', lastTransitionTime: kubeTime(NOW) }],
          containerStatuses: [
            {
              name: 'streamer',
              ready: pod.onAir,
              restartCount: 0,
              ...(pod.words && { lastState: { terminated: { exitCode: 1, message: words } } }),
            },
          ],
        },
      };
      return readPodTime(thisPod, this.memory.get(pod.uid));
    });
    const { sessions } = computeSessions(stream({}, { status: this.status }), accounts, true, at(this.clock / 10));
    if (until !== 'read') this.status = { ...this.status, sessions };
    if (until === 'done') this.pods = this.pods.filter(({ over }) => !over);
    else this.memory.clear();
  }
  /** The meter counts new time; it may crash before it acknowledges. */
  meter(acknowledges: boolean): void {
    const { sessions = [] } = this.status;
    for (const session of sessions) {
      let counted = 0;
      for (let n = session.number; n <= lastNumber(session); n++) counted += this.charged.get(n) ?? 0;
      const more = session.onAirSeconds - counted;
      const last = lastNumber(session);
      if (more > 0) this.charged.set(last, (this.charged.get(last) ?? 0) + more);
    }
    if (!acknowledges) return;
    const firstOpen = sessions.find(({ endedAt }) => endedAt === undefined)?.number ?? Number.POSITIVE_INFINITY;
    const done = sessions.filter((session) => lastNumber(session) < firstOpen).map(lastNumber);
    this.status = { ...this.status, acknowledgedSession: Math.max(this.status.acknowledgedSession ?? 0, ...done) };
  }
  get total(): number {
    return [...this.charged.values()].reduce((sum, seconds) => sum + seconds, 0);
  }
}

describe('for any fate of the pods, the operator and the meter', () => {
  const steps = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 60_000 }).map((n) => (m: Model) => m.air(n)) },
    { weight: 4, arbitrary: fc.constant((m: Model) => m.addPod()) },
    { weight: 5, arbitrary: fc.constant((m: Model) => m.restart()) },
    { weight: 2, arbitrary: fc.constant((m: Model) => m.remove(true)) },
    { weight: 4, arbitrary: fc.constant((m: Model) => m.ask()) },
    { weight: 8, arbitrary: fc.constant((m: Model) => m.look('done')) },
    { weight: 2, arbitrary: fc.constantFrom('read' as const, 'written' as const).map((u) => (m: Model) => m.look(u)) },
    { weight: 2, arbitrary: fc.boolean().map((acknowledges) => (m: Model) => m.meter(acknowledges)) },
  );
  const walk = (list: readonly ((model: Model) => void)[]) => {
    const model = new Model();
    for (const one of list) {
      one(model);
      model.meter(false);
      expect(model.total).toBeLessThanOrEqual(model.truth / 10 + 1e-6);
      expect(model.status.sessions?.length ?? 0).toBeLessThanOrEqual(MAX_SESSIONS);
    }
    while (model.pods.some(({ over }) => !over)) model.remove(true);
    model.look('done');
    model.meter(true);
    return model;
  };

  it('every second is counted once', () => {
    fc.assert(
      fc.property(fc.array(steps, { minLength: 20, maxLength: 250, size: 'max' }), (list) => {
        const model = walk(list);
        expect(model.total).toBeCloseTo(model.truth / 10, 3);
      }),
      { numRuns: 300 },
    );
  });

  it('only the unreported time of a lost node is not', () => {
    const lossy = fc.oneof(
      { weight: 12, arbitrary: steps },
      { weight: 1, arbitrary: fc.constant((m: Model) => m.remove(false)) },
    );
    fc.assert(
      fc.property(fc.array(lossy, { minLength: 20, maxLength: 250, size: 'max' }), (list) => {
        const model = walk(list);
        expect(model.total).toBeLessThanOrEqual(model.truth / 10 + 1e-6);
      }),
      { numRuns: 200 },
    );
  });
});
