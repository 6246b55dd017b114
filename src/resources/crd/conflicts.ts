/** Repeats changes of Kubernetes objects that others change as well. */
import { hasReason } from '../../kube/types.ts';

/** An object that others write again and again is stored in the new version by them. */
const ATTEMPTS = 5;

/** Repeats a change of what was read, while others change it as well. Rejects with KubeError. */
export async function retryConflicts(change: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await change();
    } catch (error) {
      if (attempt >= ATTEMPTS || !hasReason(error, 'Conflict')) throw error;
    }
  }
}
