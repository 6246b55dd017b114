/**
 * Advises agents on errors: the next step as a tool, where the table in errors.ts names a request.
 * Pure: no I/O, no clock.
 */
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';

const AGAIN = 'Wait a few seconds and call the tool again, with the same `idempotencyKey` if you gave one.';
const takeFrom = (tool: string, what = 'id'): string =>
  `Take the ${what} from \`${tool}\`. The object may have been deleted, or belong to another account.`;

const NEXT: Partial<Record<ErrorCode, string>> = {
  insufficient_scope: 'Ask the user to connect this client again, and to allow the scope that `scope` names.',
  stream_not_found: takeFrom('list_streams'),
  upload_not_found: takeFrom('list_uploads', 'objectID'),
  destination_not_found: takeFrom('list_destinations'),
  playlist_not_found: takeFrom('list_playlists'),
  playlist_version_not_found: 'Take a version from `list_playlist_versions`.',
  crypto_deposit_not_found: takeFrom('list_crypto_deposits'),
  crypto_deposit_quota_exceeded:
    'Tell the user to pay an open deposit of `list_crypto_deposits`, or to wait until one expires.',
  crypto_disabled:
    'Tell the user that the service accepts no crypto deposits; `paymentMethods` of `get_billing` lists the ways to pay.',
  crypto_unavailable: 'Wait a minute and call the tool again, or choose another network of `list_crypto_assets`.',
  crypto_rate_unavailable: 'Wait a minute and call the tool again.',
  invoice_not_found: takeFrom('list_invoices'),
  topup_not_found: takeFrom('list_top_ups'),
  topups_disabled:
    'Tell the user that the service accepts no cards; `paymentMethods` of `get_billing` lists the ways to pay.',
  topups_unavailable:
    'Tell the user that no card can be charged at the moment, and to ask the administrator of the service.',
  conflict:
    'Read the object again with the tool whose name begins with get, and apply the change to its current state.',
  stream_not_ready:
    'Follow the `fix` of each entry of `issues`. Call `get_stream_readiness` until `ready` is true, then `start_stream` again. `diagnose_stream` gives more details.',
  insufficient_credits:
    'Tell the user that the credit is used up; `get_billing` shows it. The stream resumes automatically after a top-up.',
  stream_not_live: 'Call `start_stream` with `wait`, and continue when its status is live.',
  destination_in_use:
    'Give the streams in `streamIDs` another destination with `update_stream`, or delete them with `delete_stream`, and try again.',
  destination_on_air:
    'Call `get_stream_live_stats` for the streams in `streamIDs`, which shows whether the destination accepts them. To test the destination, call `stop_stream` first.',
  upload_in_use:
    'Remove the upload from the streams in `streamIDs` with `update_stream`, and from the playlists in `playlistIDs` with `change_playlist` and `publish_playlist`. Then try again.',
  playlist_in_use: 'Remove the playlist from the streams in `streamIDs` with `update_stream`, and try again.',
  playlist_version_conflict: 'Call `get_playlist`, adapt the changes to its current version, and send that version.',
  playlist_not_playable:
    'Create a version whose items all exist with `change_playlist` or `update_playlist`, and publish it.',
  idempotency_key_reused: 'Use a new `idempotencyKey` for each new call. Repeat a key only with the same arguments.',
  validation_failed: 'Correct the arguments that `errors` names, and call the tool again.',
  link_forbidden: 'Put the file at a public http or https address, and call `create_upload_from_link` with that link.',
  quota_exceeded:
    'Free some of it, as `detail` says. If `class` is `trial`, tell the user that buying credit once raises the limit; `create_top_up` creates a payment link.',
  upload_quota_exceeded: 'Delete uploads that are no longer needed with `delete_upload`; `list_uploads` shows them.',
  too_many_writes:
    'Wait for `retryAfterSeconds`, and call the tool again, with the same `idempotencyKey` if you gave one. Put all changes of a playlist into one `change_playlist`.',
  internal: AGAIN,
  upstream_unavailable: AGAIN,
  shutting_down: AGAIN,
};

export const nextStep = (code: ErrorCode): string => NEXT[code] ?? ERRORS[code].fix;
