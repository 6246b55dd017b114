/** All tools, by their names. */

import { destinationOperations } from '../../domain/destinations/operations.ts';
import { playlistOperations } from '../../domain/playlists/operations.ts';
import { playlistVersionOperations } from '../../domain/playlists/version-operations.ts';
import { streamOperations } from '../../domain/streams/operations.ts';
import { uploadOperations } from '../../domain/uploads/operations.ts';
import type { Services } from '../services.ts';
import { accountTools } from './account.ts';
import { operationTools } from './adapter.ts';
import { billingTools } from './billing.ts';
import { cryptoTools } from './crypto.ts';
import { invoiceTools } from './invoices.ts';
import { diagnosisTool } from './live.ts';
import type { Tool } from './tool.ts';
import { topUpTools } from './top-ups.ts';

/** In the order in which a channel is put on air. */
export function createTools(services: Services): ReadonlyMap<string, Tool> {
  const all = [
    ...accountTools(services.account),
    ...operationTools(uploadOperations, services),
    ...operationTools(playlistOperations, services),
    ...operationTools(playlistVersionOperations, services),
    ...operationTools(destinationOperations, services),
    ...readScheduleLast(operationTools(streamOperations, services)),
    diagnosisTool(services),
    ...billingTools(services.billing),
    ...topUpTools(services.topUps),
    ...invoiceTools(services.invoices),
    ...cryptoTools(services.crypto),
  ];
  const byName = new Map(all.map((tool) => [tool.name, tool]));
  if (byName.size < all.length) throw new Error('Two tools have the same name.');
  return byName;
}

/** An agent first reads how to set a schedule, and then how to look at it. */
function readScheduleLast(tools: readonly Tool[]): Tool[] {
  const reading = tools.filter(({ name }) => name === 'get_stream_schedule');
  const others = tools.filter((tool) => !reading.includes(tool));
  return others.toSpliced(others.findIndex(({ name }) => name === 'unschedule_stream') + 1, 0, ...reading);
}

/** The tools without what they act on, to be told of. */
export const describedTools = (): ReadonlyMap<string, Tool> => createTools({} as Services);
