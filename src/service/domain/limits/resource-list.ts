/** Tells lists where the resources of Kubernetes have what all nouns are filtered and sorted by. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../../core/kube/types.ts';
import { readLabel } from '../../../core/resources/common/labels.ts';
import type { NounList } from '../../lib/paging/noun-list.ts';

/** All kinds have the display name in the same place. */
const readDisplayName = ({ metadata, spec }: Stored<KubeObject> & { spec?: unknown }): string =>
  (spec as { displayName?: string } | undefined)?.displayName ?? metadata.name;

export const resourceList = <T extends Stored<KubeObject>>(
  list: Pick<NounList<T>, 'nouns'> & Partial<NounList<T>>,
): NounList<T> => ({
  getId: ({ metadata }) => metadata.name,
  getCreatedAt: ({ metadata }) => metadata.creationTimestamp,
  getName: readDisplayName,
  getLabel: readLabel,
  ...list,
});
