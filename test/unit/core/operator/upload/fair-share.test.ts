import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Claim, computeShare, nextClaims, Turns } from '../../../../../src/core/operator/upload/fair-share.ts';

interface Sized extends Claim {
  /** The number of rounds that the Job takes. */
  rounds: number;
}

const byAccount = (claims: readonly Sized[]) => Map.groupBy(claims, ({ account }) => account);

/** Places, waiting claims and running Jobs; each round, finished Jobs leave, and claims take the free places. */
class Model {
  readonly limit: number;
  readonly turns = new Turns();
  running: Sized[] = [];
  waiting: Sized[] = [];
  /** Started claims, in order. */
  readonly begun: Sized[] = [];

  constructor(limit: number) {
    this.limit = limit;
  }

  places() {
    return {
      limit: this.limit,
      running: this.running.map(({ account }) => account),
      waiting: byAccount(this.waiting),
      busy: new Set(this.running.map(({ workKey }) => workKey)),
      isSwept: () => false,
      turns: this.turns,
    };
  }

  countRunning(account: string | undefined): number {
    return this.running.filter((one) => one.account === account).length;
  }

  round(): Sized[] {
    this.running = this.running.map((one) => ({ ...one, rounds: one.rounds - 1 })).filter(({ rounds }) => rounds > 0);
    const next = nextClaims(this.places());
    for (const claim of next)
      this.turns.take(
        claim.account,
        this.waiting.map(({ account }) => account),
      );
    this.waiting = this.waiting.filter((claim) => !next.includes(claim));
    this.running.push(...next);
    this.begun.push(...next);
    return next;
  }
}

const ACCOUNTS = ['a', 'b', 'c', 'd', undefined];
const claims = fc
  .array(
    fc.record({
      account: fc.constantFrom(...ACCOUNTS),
      urgent: fc.boolean(),
      since: fc.integer({ min: 0, max: 9 }).map(String),
      rounds: fc.integer({ min: 1, max: 5 }),
      work: fc.integer({ min: 0, max: 200 }),
    }),
    { maxLength: 60 },
  )
  .map((list) => list.map(({ work, ...rest }, i): Sized => ({ ...rest, name: `job-${i}`, workKey: `key-${work}` })));
const limits = fc.integer({ min: 1, max: 9 });

describe('places', () => {
  it('are never more than the limit, nor more than its share for an account, and none stays free that an account may have', () => {
    fc.assert(
      fc.property(limits, claims, (limit, list) => {
        const model = new Model(limit);
        // Claims come a few at a time.
        const rest = [...list];
        while (rest.length > 0 || model.waiting.length > 0 || model.running.length > 0) {
          model.waiting.push(...rest.splice(0, 5));
          const before = new Map(ACCOUNTS.map((account) => [account, model.countRunning(account)]));
          const left = model.running.filter(({ rounds }) => rounds > 1);
          const hasAccounts = [...model.waiting, ...left].some(({ account }) => account !== undefined);
          const next = model.round();
          expect(model.running.length).toBeLessThanOrEqual(limit);
          for (const { account } of next)
            expect(model.countRunning(account)).toBeLessThanOrEqual(
              Math.max(computeShare(account, limit, hasAccounts), before.get(account) ?? 0),
            );
          if (model.running.length === limit) continue;
          const busy = new Set(model.running.map(({ workKey }) => workKey));
          for (const { account, workKey } of model.waiting) {
            const shared = [...model.waiting, ...model.running].some((one) => one.account !== undefined);
            expect(busy.has(workKey) || model.countRunning(account) >= computeShare(account, limit, shared)).toBe(true);
          }
        }
        expect(model.begun).toHaveLength(list.length);
      }),
    );
  });

  it('are found at once by a new account, whatever one other account has done', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        fc.boolean(),
        (limit, many, urgent) => {
          const model = new Model(limit);
          const claim = (name: string, account: string, isUrgent: boolean): Sized => ({
            name,
            account,
            urgent: isUrgent,
            since: name,
            workKey: name,
            rounds: 1_000_000,
          });
          for (let n = 0; n < many; n++) model.waiting.push(claim(`a${n}`, 'a', urgent));
          model.round();
          model.waiting.push(claim('b', 'b', false));
          expect(model.round().map(({ name }) => name)).toEqual(['b']);
        },
      ),
    );
  });

  it('come to every account, even where others never stop asking for their streams’ media', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 8 }), (limit, others) => {
        const model = new Model(limit);
        const poor: Sized = { account: 'z', urgent: false, since: '9', name: 'z', workKey: 'z', rounds: 1 };
        model.waiting.push(poor);
        let rounds = 0;
        while (!model.begun.includes(poor)) {
          for (let n = 0; n < others; n++) {
            const name = `${n}-${rounds}`;
            const greedy = { account: `account-${n}`, urgent: true, since: '0', name, workKey: name, rounds: 1 };
            if (!model.waiting.some(({ account }) => account === greedy.account)) model.waiting.push(greedy);
          }
          model.round();
          expect(++rounds).toBeLessThanOrEqual(2 * others + 2);
        }
      }),
    );
  });

  it('are divided evenly among accounts that always ask', () => {
    fc.assert(
      fc.property(
        limits,
        fc.integer({ min: 2, max: 5 }),
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        (limit, many, urgent) => {
          const model = new Model(limit);
          for (let n = 0; n < many; n++)
            for (let k = 0; k < 200; k++) {
              const name = `${n}-${k}`;
              model.waiting.push({
                account: `${n}`,
                urgent: urgent[n] ?? false,
                since: '0',
                name,
                workKey: name,
                rounds: 1,
              });
            }
          for (let round = 0; round < 40; round++) model.round();
          const counts = Array.from(
            { length: many },
            (_, n) => model.begun.filter(({ account }) => account === `${n}`).length,
          );
          expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('are given in the same order for the same claims, in whichever order these are known', () => {
    fc.assert(
      fc.property(limits, claims, fc.infiniteStream(fc.nat()), (limit, list, random) => {
        const shuffled = list
          .map((claim) => ({ claim, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ claim }) => claim);
        const places = (waiting: Sized[]) => ({ ...new Model(limit).places(), waiting: byAccount(waiting) });
        expect(nextClaims(places(shuffled))).toEqual(nextClaims(places(list)));
      }),
    );
  });

  it('across accounts with as many Jobs go to a preview before work for which nobody waits', () => {
    const claim = (name: string, more: Partial<Claim> = {}): Sized => ({
      name,
      account: name,
      urgent: false,
      since: '1',
      workKey: name,
      rounds: 1,
      ...more,
    });
    const waiting = [claim('a'), claim('b', { preview: true }), claim('c', { urgent: true })];
    const places = { ...new Model(6).places(), waiting: byAccount(waiting) };
    expect(nextClaims(places).map(({ name }) => name)).toEqual(['c', 'b', 'a']);
  });

  it('within an account go to a stream’s media first, then to a preview, then to the older upload', () => {
    const claim = (name: string, since: string, more: Partial<Claim> = {}): Sized => ({
      name,
      since,
      urgent: false,
      account: 'a',
      workKey: name,
      rounds: 1,
      ...more,
    });
    const waiting = [
      claim('new', '2'),
      claim('old', '1'),
      claim('urgent', '4', { urgent: true }),
      claim('preview', '3', { preview: true }),
    ];
    const places = { ...new Model(8).places(), waiting: byAccount(waiting) };
    expect(nextClaims(places).map(({ name }) => name)).toEqual(['urgent', 'preview', 'old', 'new']);
  });
});
