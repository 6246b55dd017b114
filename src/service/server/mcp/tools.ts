/** Lists all tools by name. */

import { topUpOperations } from '../../billing/cards/operations.ts';
import { cryptoOperations } from '../../billing/crypto/operations.ts';
import { invoiceOperations } from '../../billing/invoices/operations.ts';
import { billingOperations } from '../../billing/ledger/operations.ts';
import { sessionOperations } from '../../billing/metering/operations.ts';
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
import { uploadOperations } from '../../domain/uploads/operations.ts';
import { uptimeOperations } from '../../domain/uptime/operations.ts';
import type { Services } from '../setup/services.ts';
import { operationTools } from './adapter.ts';
import { diagnosisTool } from './diagnose-stream.ts';
import type { Tool } from './tool.ts';

/** The order follows the steps of putting a channel on air. */
export function createTools(services: Services): ReadonlyMap<string, Tool> {
  const all = [
    ...operationTools(accountOperations, services),
    ...operationTools(uploadOperations, services),
    ...operationTools(playlistOperations, services),
    ...operationTools(playlistVersionOperations, services),
    ...operationTools(destinationOperations, services),
    ...operationTools(streamOperations, services),
    ...operationTools(sceneOperations, services),
    ...operationTools(timelineOperations, services),
    ...operationTools(asRunOperations, services),
    ...operationTools(sessionOperations, services),
    ...operationTools(uptimeOperations, services),
    diagnosisTool(services),
    ...operationTools(eventOperations, services),
    ...operationTools(endpointOperations, services),
    ...operationTools(billingOperations, services),
    ...operationTools(topUpOperations, services),
    ...operationTools(invoiceOperations, services),
    ...operationTools(cryptoOperations, services),
  ];
  const byName = new Map(all.map((tool) => [tool.name, tool]));
  if (byName.size < all.length) throw new Error('Two tools have the same name.');
  return byName;
}

/** Returns the tools for descriptions, without their services. */
export const describedTools = (): ReadonlyMap<string, Tool> => createTools({} as Services);
