/** Declares what lists of destinations are filtered and sorted by. Pure: no I/O, no clock. */
import type { Stored } from '../../../core/kube/types.ts';
import type { Destination } from '../../../core/resources/destination/resource.ts';
import { resourceList } from '../limits/resource-list.ts';

export const PROTOCOLS = ['rtmp', 'rtmps', 'srt'] as const;

const readProtocol = ({ status }: Destination): string => status?.rtmpUrl?.split(':')[0]?.toLowerCase() ?? '';

export const DESTINATION_LIST = resourceList<Stored<Destination>>({
  nouns: 'destinations',
  type: { title: 'DestinationProtocol', values: PROTOCOLS, get: readProtocol },
  sorts: { type: { key: readProtocol } },
});
