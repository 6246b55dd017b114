/**
 * Reports whether the parts that a server depends on respond. A limited rate protects them, however many requests ask.
 */
import { sleep } from '../../core/lib/clock.ts';

type Component = 'ok' | 'unavailable';
export type ProcessHealth = () => Promise<{ kubernetes: Component; database: Component }>;

const FRESH_MS = 2_000;
const TIMEOUT_MS = 2_000;

/** Each function resolves to whether its part responds; a rejection counts as no. */
export interface HealthChecks {
  kubernetes: () => Promise<boolean>;
  database: () => Promise<boolean>;
}

export function createHealth(checks: HealthChecks): ProcessHealth {
  const within = async (work: Promise<boolean>): Promise<Component> => {
    const late = sleep(TIMEOUT_MS).then(() => false);
    return (await Promise.race([work.catch(() => false), late])) ? 'ok' : 'unavailable';
  };
  let until = 0;
  let answer: ReturnType<ProcessHealth>;
  return () => {
    if (performance.now() < until) return answer;
    until = performance.now() + FRESH_MS;
    answer = Promise.all([within(checks.kubernetes()), within(checks.database())]).then(([kubernetes, database]) => ({
      kubernetes,
      database,
    }));
    return answer;
  };
}
