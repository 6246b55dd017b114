/**
 * Follows one chain: reads its blocks in order, each of which must name the one before as its parent. When the node
 * shows another chain, it goes back to the fork. The node's height only limits how far to read; no block is skipped for
 * it and none forgotten. Each step is one transaction that starts at the very block where the last one ended. So it may
 * be killed anywhere, and two may run at once.
 */

import type { Clock } from '../../../core/lib/clock.ts';
import type { Db } from '../../db/pool.ts';
import { type Chain, type ChainBlock, ChainError } from './chain.ts';
import { loseRow, type SeenTransfer, updateRows } from './payment-rows.ts';
import type { NetworkSetting } from './spec.ts';
import type { AddressPlace } from './store.ts';
import * as store from './store.ts';

/** Blocks that are read at a time. */
const BATCH = 20;
/** Blocks read at a time to find a fork. */
const STEPS_BACK = 50;
/** How often a run goes back. */
const TURNS = 3;
/** Transfers in no block are looked up for deposits made within this time. */
const RECENT_MS = 2 * 86_400_000;

export interface FollowDeps {
  db: Db;
  chain: Chain;
  network: NetworkSetting;
  /** Networks whose addresses are looked for on this one: what was sent over the wrong one is still its customer's. */
  relatedNetworks: readonly string[];
  creditsPerUnit: bigint;
  clock: Clock;
}

export interface ScanProgress {
  /** Up to where it was read. */
  at: AddressPlace;
  /** How high the node says that its chain is. */
  tip: number;
  /** Blocks that have left the chain. */
  left: number;
}

/** How many of the blocks follow on `from` and on one another. */
export function countLinked(from: AddressPlace, blocks: readonly ChainBlock[]): number {
  let before = from;
  let count = 0;
  for (const block of blocks) {
    if (block.height !== before.height + 1 || block.parentHash !== before.hash) break;
    before = block;
    count++;
  }
  return count;
}

export function createFollower({ db, chain, network, relatedNetworks, creditsPerUnit, clock }: FollowDeps) {
  const name = network.network;

  /** Writes down what was seen, with what is known of it. */
  async function note(trx: Db, seen: readonly SeenTransfer[]): Promise<void> {
    if (seen.length === 0) return;
    const deposits = await store.findDeposits(trx, [...new Set(seen.map(({ to }) => to))]);
    const payments = await store.lockPayments(trx, name, [...new Set(seen.map(({ txid }) => txid))]);
    const ids = [...deposits.values()].map(({ id }) => id);
    const ignored = await store.countIgnored(trx, ids);
    const known = { network, creditsPerUnit, now: clock.now(), deposits, payments, ignored };
    await store.writePayments(trx, updateRows(seen, known));
  }

  async function begin(tip: number): Promise<AddressPlace | undefined> {
    // A node may claim any height; only a height with a block counts.
    const header = await chain.header(tip);
    if (header === undefined) return undefined;
    await store.beginScan(db, name, header);
    return (await store.readScans(db)).get(name);
  }

  /** The highest block that was read and that the node still has. */
  async function parting(below: number): Promise<AddressPlace> {
    for (let height = below; ; height -= STEPS_BACK) {
      const known = await store.listBlocks(db, name, height, STEPS_BACK);
      if (known.length === 0)
        throw new ChainError(
          `The chain of the node of ${name} has nothing in common with the blocks that were read before.`,
        );
      for (const block of known) {
        const header = await chain.header(block.height);
        if (header === undefined) throw new ChainError(`The node of ${name} lacks a block below its own height.`);
        if (header.hash === block.hash) return block;
      }
    }
  }

  /** Goes back to where the node's chain parted from what was read. False when somebody else moved meanwhile. */
  async function goBack(from: AddressPlace, tip: number): Promise<AddressPlace | undefined> {
    const to = await parting(Math.min(from.height, tip));
    const done = await db.transaction().execute(async (trx) => {
      if (!(await store.rewindScan(trx, name, from, to))) return false;
      const rows = await store.lockPaymentsAbove(trx, name, to.height);
      await store.writePayments(trx, rows.map(loseRow));
      return true;
    });
    return done ? to : undefined;
  }

  /**
   * Whether the node's chain is still the one that was read; a node that has fallen behind is compared at its own
   * height.
   */
  async function isSame(at: AddressPlace, tip: number): Promise<boolean> {
    const [known] = await store.listBlocks(db, name, Math.min(at.height, tip), 1);
    if (known === undefined) return true;
    const header = await chain.header(known.height);
    if (header === undefined) throw new ChainError(`The node of ${name} lacks a block below its own height.`);
    return header.hash === known.hash;
  }

  async function goOn(
    at: AddressPlace,
    tip: number,
    addresses: ReadonlySet<string>,
  ): Promise<AddressPlace | 'parted' | undefined> {
    const blocks = await chain.read(at.height + 1, Math.min(tip, at.height + BATCH), addresses);
    const good = blocks.slice(0, countLinked(at, blocks));
    if (good.length === 0) return blocks.length === 0 ? undefined : 'parted';
    const seen = good.flatMap((block) => block.transfers.map((transfer) => ({ ...transfer, block })));
    const done = await db.transaction().execute(async (trx) => {
      if (!(await store.moveScan(trx, name, at, good))) return false;
      await note(trx, seen);
      return true;
    });
    return done ? good.at(-1) : undefined;
  }

  /** Looks up transfers that are in no block yet, and those in a block that was read without them. */
  async function lookAround(): Promise<void> {
    if (chain.recent === undefined) return;
    const since = new Date(clock.now().getTime() - RECENT_MS);
    const addresses = await store.listAddresses(db, relatedNetworks, since);
    if (addresses.length === 0) return;
    const found = await chain.recent(new Set(addresses));
    await db.transaction().execute(async (trx) => {
      const heights = found.map(({ block }) => block?.height ?? 0);
      const known = await store.listBlocks(trx, name, Math.max(0, ...heights), heights.length === 0 ? 0 : 2_000);
      const hashes = new Map(known.map(({ height, hash }) => [height, hash]));
      // A transfer in an unread block comes with that block.
      const isRead = ({ block }: SeenTransfer) => block === undefined || hashes.get(block.height) === block.hash;
      await note(trx, found.filter(isRead));
    });
  }

  return {
    /** Reads all that there is to read. undefined before anything of the chain was ever read. Throws ChainError. */
    async follow(signal: AbortSignal): Promise<ScanProgress | undefined> {
      const tip = await chain.height();
      let at = (await store.readScans(db)).get(name) ?? (await begin(tip));
      if (at === undefined) return undefined;
      let left = 0;
      let turns = 0;
      const back = async (from: AddressPlace): Promise<AddressPlace | undefined> => {
        // A node that shows one chain and then the other is left alone until the next run.
        if (++turns > TURNS) return undefined;
        const to = await goBack(from, tip);
        if (to) left += from.height - to.height;
        return to;
      };
      let next: AddressPlace | undefined = (await isSame(at, tip)) ? at : await back(at);
      // Addresses are read after the height: a payer in one of these blocks got the address before.
      const addresses = new Set(await store.listAddresses(db, relatedNetworks));
      while (next !== undefined && !signal.aborted) {
        at = next;
        if (at.height >= tip) break;
        const moved = await goOn(at, tip, addresses);
        next = moved === 'parted' ? await back(at) : moved;
      }
      await lookAround();
      return { at, tip, left };
    },
  };
}
