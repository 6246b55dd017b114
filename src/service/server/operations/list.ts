/** Lists every operation of the API, in the order of its description. Pure: no I/O, no clock. */
import { receiveStripeEvent, topUpOperations } from '../../billing/cards/operations.ts';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import { sessionOperations } from '../../billing/metering/operations.ts';
import { accessOperations } from '../../domain/accounts/access-operations.ts';
import { accountOperations } from '../../domain/accounts/operations.ts';
import { asRunOperations } from '../../domain/as-run/operations.ts';
import { destinationOperations } from '../../domain/destinations/operations.ts';
import { endpointOperations } from '../../domain/endpoints/operations.ts';
import { eventOperations } from '../../domain/events/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import { sceneOperations } from '../../domain/scenes/operations.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { timelineOperations } from '../../domain/timeline/operations.ts';
import { publicNowOperations, publicOperations } from '../../domain/timeline/public-operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { resumableOperations } from '../../domain/uploads/resumable.ts';
import { badgeOperations, uptimeOperations } from '../../domain/uptime/operations.ts';
import type { Access, OperationDeclaration } from '../../lib/operation.ts';
import { accountOwnerOperations } from './account-owner.ts';
import { metaOperations, watchChanges } from './meta.ts';

const ALL = [
  ...metaOperations,
  ...accountOperations,
  ...accessOperations,
  ...accountOwnerOperations,
  ...billingOperations,
  ...topUpOperations,
  ...invoiceOperations,
  ...cryptoOperations,
  receiveStripeEvent,
  watchChanges,
  ...eventOperations,
  ...endpointOperations,
  ...streamOperations,
  ...timelineOperations,
  ...asRunOperations,
  ...publicNowOperations,
  ...publicOperations,
  ...sessionOperations,
  ...uptimeOperations,
  ...badgeOperations,
  ...destinationOperations,
  ...uploadOperations,
  ...resumableOperations,
  ...playlistVersionOperations,
  ...playlistOperations,
  ...sceneOperations,
] as const;

export type Operation = (typeof ALL)[number]['id'];

/** A declaration without the types of its services. */
export type AnyOperation = OperationDeclaration<Operation, Access, never>;

/** Combined services of all of `Declared`. */
export type ServicesOf<Declared extends readonly unknown[]> = (
  Declared[number] extends infer One
    ? One extends OperationDeclaration<infer _Id, infer _Access, infer Services>
      ? (services: Services) => void
      : never
    : never
) extends (services: infer All) => void
  ? All
  : never;

export const OPERATIONS: readonly AnyOperation[] = ALL;

const BY_ID = new Map<string, AnyOperation>(OPERATIONS.map((operation) => [operation.id, operation]));
if (BY_ID.size < OPERATIONS.length) throw new Error('Two operations have the same id.');

export const findOperation = (id: string | undefined): AnyOperation | undefined =>
  id === undefined ? undefined : BY_ID.get(id);
