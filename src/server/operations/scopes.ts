/**
 * Says what each operation asks of a principal, by the list of operations. An operation that is not in it cannot be registered,
 * so none can be forgotten.
 * Pure: no I/O, no clock.
 */
import { AppError } from '../../lib/errors.ts';
import type { Access } from '../../lib/operation.ts';
import { PERSON, type Principal } from '../../lib/scopes.ts';
import { findOperation, OPERATIONS, type Operation } from './list.ts';

/** What each operation asks of a principal. null: no authentication. */
export const OPERATION_SCOPES = Object.fromEntries(OPERATIONS.map(({ id, scope }) => [id, scope])) as Readonly<
  Record<Operation, Access>
>;

export const isOperation = (name: string | undefined): name is Operation =>
  name !== undefined && Object.hasOwn(OPERATION_SCOPES, name);

/** Whether it only reads. Money has one scope for all, so there the method says so. */
export const isReading = (operation: Operation): boolean => {
  const { scope, http = '' } = findOperation(operation) ?? {};
  return scope === 'read' || (scope === 'billing' && http.startsWith('GET '));
};

/** Whether only a person who has signed in may do it. */
export const isForPerson = (operation: string): boolean =>
  isOperation(operation) && OPERATION_SCOPES[operation] === PERSON;

/** Whether requests may carry an idempotency key. A program does not repeat what a person does, and some answers there hold a secret. */
export const takesIdempotencyKey = (id: Operation, method: string): boolean => {
  const scope = OPERATION_SCOPES[id];
  return method === 'post' && scope !== null && scope !== PERSON;
};

/** Operations that stay available while an account is suspended: read the profile and bills, export data, delete the account. */
export const isOpenWhileSuspended = (operation: Operation): boolean =>
  findOperation(operation)?.isOpenWhileSuspended === true ||
  (OPERATION_SCOPES[operation] === 'billing' && isReading(operation));

/**
 * Throws `insufficient_scope` (403), naming the scope with its public prefix, or `person_required` (403) when the principal
 * may not do it; `account_suspended` (403) when staff have locked the account.
 */
export function requireScope(principal: Principal, operation: Operation, prefix: string): void {
  const scope = OPERATION_SCOPES[operation];
  if (scope === null) return;
  if (principal.isSuspended && !isOpenWhileSuspended(operation))
    throw new AppError('account_suspended', 'The account is suspended. Ask the support of the service for the reason.');
  if (scope === PERSON) {
    if (principal.via === 'session') return;
    throw new AppError('person_required', 'Only a user who has signed in may do this. Sign in to the dashboard.');
  }
  if (principal.scopes.has(scope)) return;
  const name = `${prefix}:${scope}`;
  throw new AppError('insufficient_scope', `The operation needs the scope ${name}. Request a token with it.`, {
    extras: { scope: name },
  });
}
