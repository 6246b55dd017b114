/**
 * Advises agents on errors: the next step as a tool, where the table in errors.ts names a request.
 * Pure: no I/O, no clock.
 */
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';

const AGAIN = 'Wait a few seconds and call the tool again, with the same `idempotencyKey` if you gave one.';
const takeFrom = (tool: string, what = 'id'): string =>
  `Take the ${what} from \`${tool}\`: it may have been deleted, or belong to another account.`;

const NEXT: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'Ask the person to connect this client again, and to allow the scope that `scope` names.',
  stream_not_found: takeFrom('list_streams'),
  upload_not_found: takeFrom('list_uploads', 'objectID'),
  destination_not_found: takeFrom('list_destinations'),
  playlist_not_found: takeFrom('list_playlists'),
  playlist_version_not_found: 'Take a version from `list_playlist_versions`.',
  crypto_deposit_not_found: takeFrom('list_crypto_deposits'),
  crypto_deposit_quota_exceeded:
    'Tell the person to pay one of the open deposits, which `list_crypto_deposits` shows, or wait until one has expired.',
  crypto_disabled:
    'Tell the person that nothing is taken this way; `paymentMethods` of `get_billing` names the ways to pay.',
  crypto_unavailable: 'Wait a minute and call the tool again, or choose another network of `list_crypto_assets`.',
  crypto_rate_unavailable: 'Wait a minute and call the tool again.',
  invoice_not_found: takeFrom('list_invoices'),
  topup_not_found: takeFrom('list_top_ups'),
  topups_disabled: 'Tell the person that no cards are taken; `paymentMethods` of `get_billing` names the ways to pay.',
  topups_unavailable: 'Tell the person that no card can be taken here, and to ask whoever runs the service.',
  conflict: 'Read it again, with the tool whose name begins with get, and decide anew on what to change.',
  stream_not_ready:
    'Do what the `fix` of each entry of `issues` says; call `get_stream_readiness` until `ready` is true, then `start_stream` again. `diagnose_stream` tells more.',
  insufficient_credits:
    'Tell the person that the credit is used up; `get_billing` shows it. The stream goes on by itself when it is topped up.',
  stream_not_live: 'Call `start_stream` with `wait`, and go on when its status is live.',
  destination_in_use:
    'Give the streams that `streamIDs` names another destination with `update_stream`, or delete them with `delete_stream`, first.',
  destination_on_air:
    'Call `get_stream_live_stats` for the streams on air there, which tells whether the destination takes them; or call `stop_stream`, and test it then.',
  upload_in_use:
    'Take it out of the streams that `streamIDs` names with `update_stream`, and out of the playlists that `playlistIDs` names with `change_playlist` and `publish_playlist`, first.',
  playlist_in_use: 'Take it out of the streams that `streamIDs` names with `update_stream` first.',
  playlist_version_conflict:
    'Call `get_playlist`, decide on the changes anew for the version that it has now, and send that version.',
  playlist_not_playable:
    'Make a version whose items all exist, with `change_playlist` or `update_playlist`, and publish that one.',
  idempotency_key_reused:
    'Give a new `idempotencyKey` for each call that is meant to have an effect of its own; repeat a call with the same key and the same arguments only.',
  validation_failed: 'Mend the arguments that `errors` names, and call the tool again.',
  link_forbidden:
    'Put the file where the public internet reaches it by http or https, and call `create_upload_from_link` with that link.',
  quota_exceeded:
    'Delete what is no longer needed, as `detail` says. Where `class` is `trial`, tell the person that buying credit once raises the limit; `create_top_up` makes a link to pay by.',
  upload_quota_exceeded: 'Delete uploads that are no longer needed with `delete_upload`; `list_uploads` shows them.',
  internal: AGAIN,
  upstream_unavailable: AGAIN,
  shutting_down: AGAIN,
};

export const nextStep = (code: ErrorCode): string => NEXT[code] ?? ERRORS[code].fix;
