/** Shows what was made of an upload with the overlays of streams. Pure: no I/O, no clock. */
import { parseLookProfile } from '../../../core/resources/upload/look.ts';
import type { Upload as Resource } from '../../../core/resources/upload/resource.ts';
import { findRendition } from '../../../core/resources/upload/spec.ts';
import type { Upload } from './record.ts';
import type { ShowError } from './sounds.ts';

/** One of an earlier choice of tracks is left out. */
export const showLooks = (upload: Resource, showError: ShowError): Upload['looks'] =>
  (upload.status?.renditions ?? []).flatMap(({ profile: name }) => {
    const look = parseLookProfile(name);
    const made = look && findRendition(upload, name);
    if (!made) return [];
    return [{ profile: look.profile, state: made.state, error: made.error ? showError(made.error) : null }];
  });
