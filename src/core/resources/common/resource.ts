/** Declares a kind of loopstream's API group. Pure: no I/O, no clock. */
import type { KubeObject, Resource } from '../../kube/types.ts';
import { GROUP, VERSION } from './names.ts';

export const ownKind = <T extends KubeObject>(kind: string, plural: string): Resource<T> => ({
  group: GROUP,
  version: VERSION,
  kind,
  plural,
  namespaced: true,
});
