/** Charges calls to the counter that all replicas share, before they are sent. */
import { type Static, Type } from 'typebox';
import type { Clock } from '../../lib/clock.ts';
import { parseAs } from '../../lib/parse.ts';
import type { ApiObserverDeps } from '../common/observer.ts';
import { charge, exhaust, spentUnits, type UnitCounter } from './budget.ts';

/** Name of the shared counter. */
export const COUNTER_NAME = 'youtube-units';

const StoredCounter = Type.Object({ day: Type.String(), units: Type.Number({ minimum: 0 }) });

const parseCounter = (text: string | undefined): Static<typeof StoredCounter> | undefined =>
  parseAs(StoredCounter, text);

export interface UnitMeter {
  read: () => Promise<UnitCounter | undefined>;
  /** False if the day has not so many units left. The call must not be sent then. */
  charge: (units: number) => Promise<boolean>;
  /** After the API has said that nothing is left. */
  exhaust: () => Promise<void>;
}

export function createMeter(
  updateShared: ApiObserverDeps['updateShared'],
  clock: Clock,
  budgetUnits: number | undefined,
): UnitMeter {
  const now = () => clock.now().getTime();
  return {
    async read() {
      let counter: UnitCounter | undefined;
      await updateShared(COUNTER_NAME, (before) => {
        counter = parseCounter(before);
        return undefined;
      });
      return counter;
    },
    async charge(units) {
      let isPaid = false;
      const isStored = await updateShared(COUNTER_NAME, (before) => {
        const next = charge(parseCounter(before), units, now(), budgetUnits);
        isPaid = next !== undefined;
        return next && JSON.stringify(next);
      });
      return isPaid && isStored;
    },
    async exhaust() {
      await updateShared(COUNTER_NAME, (before) => {
        const none = exhaust(now(), budgetUnits);
        const isKnown = spentUnits(parseCounter(before), now()) >= none.units;
        return isKnown ? undefined : JSON.stringify(none);
      });
    },
  };
}
