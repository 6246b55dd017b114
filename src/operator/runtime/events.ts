/** Makes Events, and the reasons that they and conditions have. Pure: no I/O, no clock. */

import type { EventInput } from '../../kube/events.ts';

export const normal = (reason: string, message: string): EventInput => ({ type: 'Normal', reason, message });
export const warning = (reason: string, message: string): EventInput => ({ type: 'Warning', reason, message });

/** The reason of a condition or an Event: `picture_held` is `PictureHeld`. */
export const pascalCase = (code: string): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
