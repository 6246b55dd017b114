/**
 * Maps each operation to its required scope. An operation outside of the list cannot be registered, so none can be forgotten.
 * Pure: no I/O, no clock.
 */
import { AppError } from '../../lib/errors.ts';
import type { Access } from '../../lib/operation.ts';
import { PERSON, type Principal } from '../../lib/scopes.ts';
import { nameSupport } from '../../lib/support.ts';
import { findOperation, OPERATIONS, type Operation } from './list.ts';

/** Required scope of each operation; null needs no authentication. */
export const OPERATION_SCOPES = Object.fromEntries(OPERATIONS.map(({ id, scope }) => [id, scope])) as Readonly<
  Record<Operation, Access>
>;

export const isOperation = (name: string | undefined): name is Operation =>
  name !== undefined && Object.hasOwn(OPERATION_SCOPES, name);

/** Returns whether it only reads. Billing has one scope for all, and secrets are for those who may write, so there the method decides. */
export const isReading = (operation: Operation): boolean => {
  const { scope, http = '' } = findOperation(operation) ?? {};
  return scope === 'read' || ((scope === 'billing' || scope === 'write') && http.startsWith('GET '));
};

/** Returns whether it requires a signed-in person. */
export const isForPerson = (operation: string): boolean =>
  isOperation(operation) && OPERATION_SCOPES[operation] === PERSON;

/**
 * Returns whether requests may carry an idempotency key. Operations of a person may not: programs do not retry them, and some
 * responses contain a secret.
 */
export const takesIdempotencyKey = (id: Operation, method: string): boolean => {
  const scope = OPERATION_SCOPES[id];
  return method === 'post' && scope !== null && scope !== PERSON;
};

/** Operations that stay available while an account is suspended: read the profile and bills, export data, delete the account. */
export const isOpenWhileSuspended = (operation: Operation): boolean =>
  findOperation(operation)?.isOpenWhileSuspended === true ||
  (OPERATION_SCOPES[operation] === 'billing' && isReading(operation));

/** Returns whether keys that are limited by a label selector may run it. */
export const isOpenToLimitedKeys = (operation: Operation): boolean =>
  OPERATION_SCOPES[operation] === null || findOperation(operation)?.isOpenToLimitedKeys === true;

/** Returns whether the principal's scopes allow it, and the reach of its key. */
export const hasScope = ({ scopes, reach }: Principal, operation: Operation): boolean => {
  const scope = OPERATION_SCOPES[operation];
  if (reach && !isOpenToLimitedKeys(operation)) return false;
  return scope === null || (scope !== PERSON && scopes.has(scope));
};

/**
 * Throws `insufficient_scope` (403) with the scope's public name, `person_required` (403) or `key_limited` (403), if the principal may
 * not run it.
 * Throws `account_suspended` (403) if staff suspended the account.
 */
export function requireScope(principal: Principal, operation: Operation, prefix: string): void {
  const scope = OPERATION_SCOPES[operation];
  if (scope === null) return;
  if (principal.isSuspended && !isOpenWhileSuspended(operation))
    throw new AppError(
      'account_suspended',
      `The account is suspended. Ask ${nameSupport(principal.supportUrl)} for the reason.`,
    );
  if (scope === PERSON) {
    if (principal.via === 'session') return;
    throw new AppError('person_required', 'Only a user who has signed in may do this. Sign in to the dashboard.');
  }
  if (principal.reach && !isOpenToLimitedKeys(operation))
    throw new AppError(
      'key_limited',
      `The API key is limited to objects with the labels ${principal.reach.selector}, and this is about the whole account. Use a key without a label selector.`,
    );
  if (hasScope(principal, operation)) return;
  const name = `${prefix}:${scope}`;
  const remedy = principal.via === 'key' ? 'Use an API key that has it.' : 'Request a token with it.';
  throw new AppError('insufficient_scope', `The operation needs the scope ${name}. ${remedy}`, {
    extras: { scope: name },
  });
}
