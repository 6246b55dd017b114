/** Declares what lists of endpoints are filtered and sorted by. Pure: no I/O, no clock. */
import { kubeTime } from '../../../core/lib/clock.ts';
import type { NounList } from '../../lib/paging/noun-list.ts';
import { ENDPOINT_KINDS, ENDPOINT_STATES } from './record.ts';
import type { EndpointRow } from './store.ts';

export const ENDPOINT_LIST: NounList<EndpointRow> = {
  nouns: 'endpoints',
  getId: ({ id }) => id,
  getCreatedAt: ({ createdAt }) => kubeTime(createdAt),
  getName: ({ name }) => name,
  getLabel: ({ labels }, name) => labels[name],
  state: { title: 'EndpointState', values: ENDPOINT_STATES, get: ({ state }) => state },
  type: { title: 'EndpointKind', values: ENDPOINT_KINDS, get: ({ kind }) => kind },
  sorts: { state: { key: ({ state }) => state }, type: { key: ({ kind }) => kind } },
};
