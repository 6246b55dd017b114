/** Holds back the objects of a namespace until all kinds of them are known. */

import type { NamespaceWatch } from '../../kube/namespace-watch.ts';
import { type Reconcile, splitKey } from '../runtime/controller.ts';

/** Leaves the objects of a namespace alone until it is filled: the handler of `onFilled` enqueues them again. */
export const holdBack =
  ({ isFilled }: Pick<NamespaceWatch, 'isFilled'>, reconcile: Reconcile): Reconcile =>
  async (key) =>
    isFilled(splitKey(key)[0]) ? reconcile(key) : undefined;
