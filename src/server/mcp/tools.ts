/** All tools, by their names. */
import type { Services } from '../services.ts';
import { accountTools } from './account.ts';
import { billingTools } from './billing.ts';
import { cryptoTools } from './crypto.ts';
import { destinationTools } from './destinations.ts';
import { invoiceTools } from './invoices.ts';
import { liveTools } from './live.ts';
import { playlistTools } from './playlists.ts';
import { streamTools } from './streams.ts';
import type { Tool } from './tool.ts';
import { topUpTools } from './top-ups.ts';
import { uploadTools } from './uploads.ts';
import { versionTools } from './versions.ts';

/** In the order in which a channel is put on air. */
export function createTools(services: Services): ReadonlyMap<string, Tool> {
  const all = [
    ...accountTools(services.account),
    ...uploadTools(services.uploads),
    ...playlistTools(services.playlists),
    ...versionTools(services.playlists),
    ...destinationTools(services.destinations),
    ...streamTools(services.streams),
    ...liveTools(services),
    ...billingTools(services.billing),
    ...topUpTools(services.topUps),
    ...invoiceTools(services.invoices),
    ...cryptoTools(services.crypto),
  ];
  const byName = new Map(all.map((tool) => [tool.name, tool]));
  if (byName.size < all.length) throw new Error('Two tools have the same name.');
  return byName;
}

/** The tools without what they act on, to be told of. */
export const describedTools = (): ReadonlyMap<string, Tool> => createTools({} as Services);
