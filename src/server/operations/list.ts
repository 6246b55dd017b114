/** Lists every operation of the API, in the order of its description. Pure: no I/O, no clock. */
import { destinationOperations } from '../../domain/destinations/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { resumableOperations } from '../../domain/uploads/resumable.ts';
import type { Access, OperationDeclaration } from '../../lib/operation.ts';

const ALL = [
  ...streamOperations,
  ...destinationOperations,
  ...uploadOperations,
  ...resumableOperations,
  ...playlistVersionOperations,
  ...playlistOperations,
] as const;

/** The id of an operation. */
export type DeclaredOperation = (typeof ALL)[number]['id'];

/** A declaration whose services are handed to it unchecked: each transport has all of them. */
export type AnyOperation = OperationDeclaration<DeclaredOperation, Access, never>;

export const OPERATIONS: readonly AnyOperation[] = ALL;

const BY_ID = new Map<string, AnyOperation>(OPERATIONS.map((operation) => [operation.id, operation]));
if (BY_ID.size < OPERATIONS.length) throw new Error('Two operations have the same id.');

export const findOperation = (id: string | undefined): AnyOperation | undefined =>
  id === undefined ? undefined : BY_ID.get(id);
