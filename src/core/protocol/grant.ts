/** Declares what the operator grants to the first pod of a stream, in answer to its report (status 200). Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

export const Grant = Type.Object({
  /** UID of the pod that may publish. */
  publisher: Type.String(),
  /** The token for live stats and the preview. */
  viewToken: Type.String(),
});
export type Grant = Static<typeof Grant>;
