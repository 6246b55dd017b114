/**
 * Decides the next state of a payment, and derives a deposit's state from its payments: all rules, and none of their
 * effects (spec.ts has the states). Heights are those verified block by block, never the node's own claim. Pure: no
 * I/O, no clock.
 */
import type { DepositState, IgnoredReason, PaymentState } from './spec.ts';

export interface Payment {
  state: PaymentState;
  /** The height of its block; null while it is in none. */
  height: number | null;
  /** The height of its former block, when that has left the chain. */
  lostHeight: number | null;
  /** How often it was credited and taken back. */
  reversals: number;
}

/** A transfer as the scanner saw it: in a block, or in none yet. */
export type TransferSighting = { height: number } | 'pending';

/** A transfer that is seen for the first time. */
export function beginPayment(sighting: TransferSighting, reason: IgnoredReason | undefined): Payment {
  const height = sighting === 'pending' ? null : sighting.height;
  const state = reason !== undefined ? 'ignored' : height === null ? 'seen' : 'confirming';
  return { state, height, lostHeight: null, reversals: 0 };
}

/** A transfer that is known is seen again: in its block, in another one, or in none. */
export function updatePayment(payment: Payment, sighting: TransferSighting): Payment {
  if (sighting === 'pending') {
    // Only a rewind, which reports it, can move a transfer out of its block.
    const isBack = payment.state === 'dropped' || (payment.state === 'reorged' && payment.height === null);
    return isBack ? { ...payment, state: 'seen' } : payment;
  }
  const there = { ...payment, height: sighting.height, lostHeight: null };
  const isSettled = payment.state === 'credited' || payment.state === 'ignored';
  return isSettled ? there : { ...there, state: 'confirming' };
}

/** Its block has left the chain. */
export function losePayment(payment: Payment): Payment {
  const state = payment.state === 'confirming' ? 'reorged' : payment.state;
  return { ...payment, state, height: null, lostHeight: payment.height ?? payment.lostHeight };
}

/** The decision about a payment. `drop` and `reverse` only apply if the node no longer knows it. */
export type PaymentVerdict = 'wait' | 'credit' | 'reverse' | 'drop';

/** `verified`: the height up to which the chain was read. */
export function judgePayment(payment: Payment, verified: number, needed: number): PaymentVerdict {
  if (payment.state === 'confirming' && payment.height !== null)
    return countConfirmations(payment.height, verified) >= needed ? 'credit' : 'wait';
  // Its transaction mostly comes back within a block or two; until then nobody loses anything.
  if (payment.state === 'credited' && payment.height === null && payment.lostHeight !== null)
    return countConfirmations(payment.lostHeight, verified) > needed ? 'reverse' : 'wait';
  if (payment.state === 'seen') return 'drop';
  if (payment.state === 'reorged' && payment.lostHeight !== null)
    return countConfirmations(payment.lostHeight, verified) > needed ? 'drop' : 'wait';
  return 'wait';
}

/** Confirming blocks: its own, and all above. */
export const countConfirmations = (height: number, verified: number): number => Math.max(0, verified - height + 1);

export interface DepositFacts {
  /** In the smallest unit of the requested asset; null: anything. */
  amount: bigint | null;
  expiresAt: Date;
}

export interface PaymentFacts extends Payment {
  /** Whether it is of the requested asset. */
  isAsked: boolean;
  amount: bigint;
}

export interface DepositView {
  state: DepositState;
  /** While it is `confirming`: of the payment that has the fewest. */
  confirmations: number | null;
  /** Credited and in the chain, of the requested asset. */
  received: bigint;
}

/** Derives a deposit's state from its payments. Incoming payments take precedence over credited ones. */
export function buildDepositView(
  deposit: DepositFacts,
  payments: readonly PaymentFacts[],
  verified: number,
  now: Date,
): DepositView {
  const has = (state: PaymentState) => payments.filter((payment) => payment.state === state);
  const credited = has('credited');
  const received = credited.filter(({ isAsked }) => isAsked).reduce((sum, { amount }) => sum + amount, 0n);
  const confirming = has('confirming');
  const least = Math.min(...confirming.map(({ height }) => countConfirmations(height ?? verified + 1, verified)));
  const isInDoubt = credited.some(({ height }) => height === null);
  const state = ((): DepositState => {
    if (confirming.length > 0) return 'confirming';
    if (has('seen').length > 0) return 'seen';
    if (has('reorged').length > 0 || isInDoubt) return 'reorged';
    if (credited.length > 0) return deposit.amount !== null && received < deposit.amount ? 'underpaid' : 'credited';
    if (has('reversed').length > 0) return 'reorged';
    return now < deposit.expiresAt ? 'waiting' : 'expired';
  })();
  return { state, confirmations: confirming.length > 0 ? least : null, received };
}
