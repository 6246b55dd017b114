/** Reads objects of Kubernetes as clients read them, for events: without lists that may be long. */
import type { DestinationService } from '../destinations/service.ts';
import type { PlaylistService } from '../playlists/service.ts';
import type { StreamService } from '../streams/service.ts';
import type { UploadService } from '../uploads/service.ts';
import type { CollectorDeps } from './collector.ts';
import type { EventObject, Snapshot } from './record.ts';

/** The services that return the objects. */
export interface Snapshotted {
  streams: Pick<StreamService, 'get'>;
  uploads: Pick<UploadService, 'get'>;
  playlists: Pick<PlaylistService, 'get'>;
  destinations: Pick<DestinationService, 'get'>;
}

type Read = (accountId: string, id: string) => Snapshot;

export function createSnapshots({ streams, uploads, playlists, destinations }: Snapshotted): CollectorDeps['snapshot'] {
  const readers: Partial<Record<EventObject, Read>> = {
    stream: streams.get,
    destination: destinations.get,
    upload: (accountId, id) => {
      const {
        declaredTracks: _tracks,
        sounds: _sounds,
        looks: _looks,
        cards: _cards,
        ...upload
      } = uploads.get(accountId, id);
      return upload;
    },
    // `publication` says how many items there are.
    playlist: (accountId, id) => {
      const { items: _items, ...playlist } = playlists.get(accountId, id);
      return playlist;
    },
  };
  return (object, accountId, objectId) => readers[object]?.(accountId, objectId);
}
