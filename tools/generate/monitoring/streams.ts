/** Declares alerts about streams: failures that viewers notice, or soon would. Pure: no I/O, no clock. */
import { FRAMERATES } from '../../../src/core/resources/stream/profile.ts';
import {
  type Alert,
  DESCRIBE,
  type Group,
  OF_STREAM,
  OPERATOR_LOG,
  PLATFORM_LOG,
  STREAM,
  STREAM_LOG,
  STREAM_POD,
  STREAM_STATS,
} from './alert.ts';

/** FLV has whole milliseconds, so two frames may be one further apart than they are. */
const ROUNDING_SECONDS = 0.002;
const stepAbove = (framerate: number): string =>
  `max ${OF_STREAM} (loopstream_streamer_largest_step_seconds{track="video",window="hour"}) * on (namespace, loopstream) ` +
  `max ${OF_STREAM} (loopstream_info{framerate="${framerate}"}) > ${(1 / framerate + ROUNDING_SECONDS).toFixed(4)}`;

const onAir: Alert[] = [
  {
    name: 'LoopStreamOffAir',
    expr: `max ${OF_STREAM} (loopstream_status_phase{phase=~"starting|reconnecting|failed"}) == 1`,
    for: '2m',
    severity: 'critical',
    summary: `Stream ${STREAM} should be on air, but is not.`,
    description: 'No destination has accepted media for two minutes, although the stream has everything that it needs.',
    hasCause: true,
    means:
      'The stream should run, and its media and destinations are in order, but no destination takes media. The stream is starting, reconnecting or failed.',
    viewers: 'Nothing, or the platform’s page for a channel that is offline.',
    looks: [
      [DESCRIBE, 'the reason in the conditions `Live` and `Progressing`, and the events below them'],
      [STREAM_POD, 'a pod that is Pending has no node; one that restarts has a reason in `kubectl describe pod`'],
      [STREAM_LOG, 'the response of the destination: rejected key, no route, TLS'],
      [STREAM_STATS, '`destinations[].lastError` has a stable code and a sentence'],
    ],
    mends: [
      'Pending: add nodes, or correct `spec.template` (node selector, tolerations, resources).',
      'The image is missing, or a policy or quota rejects the pod (`PodRefused`, `QuotaExceeded`): correct the cause in the message. The operator retries by itself, within ten minutes at the latest; `kubectl loop start` retries at once.',
      'The destination rejects the stream: correct the key in its Secret (it takes effect within minutes), or ask the platform.',
      'The destination is unreachable from the cluster: check egress rules (`networkPolicy.mediaAlsoTo` if its address is private), DNS and the platform’s own status.',
    ],
  },
  {
    name: 'LoopStreamNotSeenByViewers',
    expr: `max ${OF_STREAM} (loopstream_status_condition{condition="OnAirForViewers",status="false"}) == 1`,
    for: '1m',
    severity: 'critical',
    summary: `Viewers do not see stream ${STREAM}, although it is sent.`,
    description: 'A destination takes the media of the stream, and its platform does not show it to viewers.',
    hasCause: true,
    means:
      'The phase is `live`, and the condition `OnAirForViewers` is False: the platform of a destination, or the watch address of it, does not show what is sent.',
    viewers: 'The page of a broadcast that has ended, a picture that stands still, black, or another picture.',
    looks: [
      [DESCRIBE, 'the message of `OnAirForViewers` names the destination, the cause and the remedy'],
      [
        'kubectl get destinations -n "$NS" -o wide',
        'the column VIEWERS; `kubectl describe destination` has `status.platform`',
      ],
      ['kubectl get events -n "$NS" --field-selector reason=PlatformEnded', 'when it began, and how often'],
      [PLATFORM_LOG, 'answers of the platform, and repairs'],
    ],
    mends: [
      'BroadcastEnded, NoBroadcast: start a broadcast with the same key on the platform, and switch off its automatic end. A destination of YouTube with `policy: Repair` does so by itself.',
      'IngestInactive, KeyRevoked: copy the key from the platform into the Secret of the destination.',
      'AddressNotFound, NoPlaylist, NotAdvancing, OldSegments, SegmentsMissing, NotDecodable, Frozen, Black: look at the server or CDN that viewers use, and restart its output.',
      'OtherPicture: something else publishes with the same name or key. Renew the key if you do not know it.',
    ],
  },
  {
    name: 'LoopStreamPlatformUnknown',
    expr: `max ${OF_STREAM} (loopstream_status_condition{condition="OnAirForViewers",status="unknown"}) == 1`,
    for: '30m',
    severity: 'warning',
    summary: `It is not known whether viewers see stream ${STREAM}.`,
    description: 'The platform of a destination has not told for 30 minutes whether viewers see the stream.',
    means:
      'The condition `OnAirForViewers` is Unknown: nobody looks, the platform does not let us look, or its answer says nothing. The stream may be seen all the same.',
    viewers: 'Nothing that is known.',
    looks: [
      [DESCRIBE, 'the message of `OnAirForViewers` names the destination and the reason'],
      [
        'time() - max by (namespace, destination) (loopstream_destination_platform_checked_at)  # in Prometheus',
        'the age of the last look: more than some minutes for all of them, and the role `platform` does not run',
      ],
      [PLATFORM_LOG, 'answers of the platform, limits, addresses that are refused'],
    ],
    mends: [
      'NotChecked: start the role `platform` (`platform.enabled` in the chart), and look at its log.',
      'Unauthorized: connect the account of the platform again.',
      'QuotaExhausted: wait until the platform allows more, or ask it for a higher quota.',
      'ForbiddenAddress, Unreachable, NotMedia, PlaylistTooLarge: correct the watch address of the destination.',
      'Protected, NoPicture, PictureUnclear: the picture cannot be compared. Give the destination another watch address, or silence the alert for this stream.',
    ],
  },
  {
    name: 'LoopStreamWaiting',
    expr: `max ${OF_STREAM} (loopstream_status_phase{phase="waiting"}) == 1`,
    for: '30m',
    severity: 'warning',
    summary: `Stream ${STREAM} should run, but waits for a requirement.`,
    description:
      'A readiness condition of the stream (DestinationReady, MediaReady, ScheduleValid) has not been True for 30 minutes.',
    hasCause: true,
    means:
      'The stream was started, but its media is not prepared, its destination does not exist, or its schedule is invalid.',
    viewers: 'Nothing: it has not gone on air.',
    looks: [
      [DESCRIBE, 'the False condition, which names the missing part and the remedy'],
      ['kubectl get uploads,playlists,destinations -n "$NS"', 'uploads that are importing, preparing or failed'],
      ['kubectl get jobs -n "$NS" -l app.kubernetes.io/managed-by=loopstream', 'Jobs that run, or wait for room'],
    ],
    mends: [
      'MediaImporting, MediaPreparing: long media takes long; see LoopStreamPrepareFailing if Jobs fail. To run more at a time, raise `operator.importConcurrency` and `operator.prepareConcurrency`; an account gets at most half of either.',
      'DestinationSecretMissing: create the Secret with `rtmpUrl` and `rtmpKey`.',
      'Other causes: the owner of the stream corrects them; the message names the remedy.',
    ],
  },
  {
    name: 'LoopStreamFlapping',
    expr: `sum ${OF_STREAM} (changes(loopstream_status_live_since[30m])) >= 3`,
    severity: 'warning',
    summary: `Stream ${STREAM} keeps losing its destinations.`,
    description: 'The stream went off air and on air again three times or more within 30 minutes.',
    hasCause: true,
    means: 'All destinations of the stream dropped repeatedly, or its pod was replaced repeatedly.',
    viewers: 'The picture stops for some seconds each time; some platforms end the broadcast.',
    looks: [
      [
        STREAM_STATS,
        '`destinations[].lastError`: `stalled` and `reset` point to the network, `key_in_use` and `publish_rejected` to the platform',
      ],
      [STREAM_POD, 'RESTARTS and AGE: a young pod is a replacement'],
      [DESCRIBE, 'events `Live`, `Reconnecting` with their times and reasons'],
    ],
    mends: [
      'Replaced pods: look for drains, evictions and OOM kills (`kubectl get events -n "$NS"`); set requests in `spec.template.resources`.',
      'The network: lower the `quality`, or use another egress. Many affected streams point to the egress of the cluster.',
      'The platform: another publisher with the same key disconnects this one.',
    ],
  },
  {
    name: 'LoopStreamDegraded',
    expr: `max ${OF_STREAM} (loopstream_status_condition{condition="Degraded",status="true"}) == 1`,
    for: '10m',
    severity: 'warning',
    summary: `Stream ${STREAM} is on air, but degraded.`,
    description: 'The condition Degraded of the stream has been True for ten minutes. Its message names the problem.',
    hasCause: true,
    means:
      'An item cannot be played and is left out, an item is prepared more slowly than it plays, one of several destinations accepts no media, or no item can be played.',
    viewers:
      'The loop without the broken item, or the slate where no item can be played; the prepared part of an item again; nothing at the destination that is down.',
    looks: [
      [DESCRIBE, 'the message of `Degraded` names item or destination'],
      [STREAM_STATS, '`brokenItems` and `destinations[].lastError`'],
    ],
    mends: [
      'ItemsLeftOut: wait for items in preparation. Upload the others again, or remove them from the playlist.',
      'PreparationBehind: wait until more is prepared. To prepare faster, give the Jobs nodes with faster processors (`jobs.nodeSelector`), or choose a lower quality; `spec.startPolicy: Prepared` waits for all before the next start.',
      'MediaFailed: the rest of an item could not be prepared, and the stream goes on with the part that is. Upload the file again.',
      'OverlaysMissing: import the picture that the message names again, or remove it from the overlays of the stream. Make a scene that is missing again, or choose another one.',
      'CardsMissing: import the picture that the message names again, or choose another one for the cards of the stream.',
      'SlateMissing: import the picture that the message names again, or choose another one for the slate of the stream.',
      'DestinationReconnecting: see LoopStreamDestinationDown.',
      'Reasons of platforms, such as BroadcastEnded: see LoopStreamNotSeenByViewers. LimitNear: stop and start the stream at a time that suits the viewers.',
      'NothingPlayable: see LoopStreamStorageFailing. If the storage responds, the media itself is missing or broken.',
    ],
  },
  {
    name: 'LoopStreamDestinationDown',
    expr: 'min by (namespace, loopstream, destination) (loopstream_streamer_destination_connected) == 0',
    for: '5m',
    severity: 'warning',
    summary: `Destination {{ $labels.destination }} of ${STREAM} accepts no media.`,
    description: 'The destination has not been connected for five minutes, while the pod of the stream runs.',
    means:
      'The pod retries the destination. The other destinations of the stream are not affected. A destination that hangs up again and again counts as disconnected until a connection lasts twice as long as those before (20 s to 5 min).',
    viewers: 'Nothing at this destination, or a picture that stops again and again.',
    looks: [
      [
        STREAM_STATS,
        '`lastError` of the destination: `dns_failed`, `connection_refused`, `tls_failed`, `publish_rejected`, …',
      ],
      ['kubectl get destination -n "$NS" -o wide', 'its condition Ready, and its Secret'],
      [STREAM_LOG, 'the first failure, and attempts that end immediately or after a time-out'],
    ],
    mends: [
      'The platform has a new key: write it into the Secret. It takes effect within minutes.',
      '`reset` again and again, with `bytesSent` that grows: another publisher uses the same key, or the platform ends the broadcast. Give this stream a key of its own.',
      'The address does not respond: check `networkPolicy.mediaAlsoTo` if it is private, the firewall of the cluster, and the status page of the platform.',
    ],
  },
  {
    name: 'LoopStreamSeamStep',
    expr: FRAMERATES.map(stepAbove).join(' or '),
    severity: 'warning',
    summary: `Video frames of ${STREAM} are missing.`,
    description: 'The largest step between two video timestamps within the last hour was longer than one frame.',
    means: 'The stream left out frames, at a seam or elsewhere. The streamer never does so if media arrives in time.',
    viewers: 'A jump or a freeze for a moment; some platforms break the connection.',
    looks: [
      [STREAM_STATS, '`seam.hour.maxStepMs`, `leadMs`, and the item on air'],
      ['kubectl top pod -n "$NS" -l loopstream.dev/stream="$STREAM"', 'a CPU limit that throttles'],
      [STREAM_LOG, 'late responses of the storage, corrections of the timeline'],
    ],
    mends: [
      'The pod lacks CPU time: raise `spec.template.resources`, and remove CPU limits.',
      'Slow storage: see LoopStreamCacheMissing and LoopStreamStorageFailing.',
      'Neither: this is a bug of the streamer. Keep `/stats` and the log, and report it.',
    ],
  },
];

const media: Alert[] = [
  {
    name: 'LoopStreamTimelineResets',
    expr: `sum ${OF_STREAM} (increase(loopstream_streamer_timeline_resets_total[15m])) > 2`,
    severity: 'warning',
    summary: `Stream ${STREAM} falls behind its own clock.`,
    description: 'The timeline of the stream was reset more than twice within 15 minutes.',
    means: 'The pod got no processor time, or no media, for seconds at a time.',
    viewers: 'Buffering.',
    looks: [
      ['kubectl top pod -n "$NS" -l loopstream.dev/stream="$STREAM"', 'usage near its limit'],
      ['kubectl top nodes', 'a node that is full'],
      [STREAM_STATS, '`leadMs` near 0 or below it'],
    ],
    mends: [
      'Move pods to other nodes, or set resource requests of the stream (`spec.template.resources`).',
      'A suspended or migrated node explains a single burst.',
    ],
  },
  {
    name: 'LoopStreamStorageFailing',
    expr: `min ${OF_STREAM} (loopstream_streamer_storage_available) == 0`,
    for: '2m',
    severity: 'critical',
    summary: `The media storage does not respond to stream ${STREAM}.`,
    description: 'The stream plays from its cache. Items outside the cache cannot be played.',
    means: 'Reads from S3 have failed for two minutes, and none has succeeded since.',
    viewers: 'Nothing yet, while the current item and the next are cached; then items are left out.',
    looks: [
      [STREAM_LOG, 'refused (credentials), unreachable, or slow'],
      ['kubectl get secret -n "$NS"', 'the Secret of the storage, by its age'],
      [
        'count(loopstream_streamer_storage_available == 0)  # in Prometheus',
        'one stream: its node or its media. All: the storage',
      ],
    ],
    mends: [
      'Credentials: renew the Secret; it takes effect on pods on air within minutes.',
      'The storage: restore it. Streams recover automatically.',
      'Until then, restart no pods: a new one has an empty cache.',
    ],
  },
  {
    name: 'LoopStreamCacheMissing',
    expr:
      `sum ${OF_STREAM} (rate(loopstream_streamer_cache_misses_total[10m])) / ` +
      `(sum ${OF_STREAM} (rate(loopstream_streamer_cache_hits_total[10m])) + sum ${OF_STREAM} (rate(loopstream_streamer_cache_misses_total[10m]))) > 0.2 ` +
      `or min ${OF_STREAM} (loopstream_streamer_cache_writable) < 1`,
    for: '15m',
    severity: 'warning',
    summary: `The cache of stream ${STREAM} is ineffective.`,
    description:
      'More than a fifth of the reads of the stream wait for the storage, or the disk of the cache is not writable.',
    means:
      'The pod reads media ahead into a cache on disk. The cache is too small, its disk is full, or the storage is slower than the media plays.',
    viewers: 'Nothing, until the storage is slow or down: then the stream stops, because its cache is empty.',
    looks: [
      [STREAM_STATS, '`cache`: bytes, limit, hits, misses and whether it is writable'],
      [
        'kubectl describe pod -n "$NS" -l loopstream.dev/stream="$STREAM"',
        'the volume of the cache and events about disk',
      ],
    ],
    mends: ['Raise `storage.s3.cacheBytes` (two items of the playlist must fit).', 'Free the node’s disk.'],
  },
  {
    name: 'LoopStreamPrepareFailing',
    expr: 'sum by (task, code) (increase(loopstream_upload_failures_total{code=~"storage_full|storage_taken|prepare_timeout|prepare_failed"}[30m])) > 0',
    severity: 'warning',
    summary: 'Media cannot be prepared ({{ $labels.task }}: {{ $labels.code }}).',
    description: 'A Job that imports or prepares an upload failed because of the cluster, not because of the file.',
    means:
      'Jobs ran out of storage or time, or failed without a reason. Unreadable files and dead links are not counted here.',
    viewers: 'Nothing, unless a stream waits for this media.',
    looks: [
      ['kubectl get uploads -A -o wide', 'uploads in state `failed`, with their code'],
      ['kubectl get jobs -A -l app.kubernetes.io/managed-by=loopstream', 'Jobs that failed'],
      [
        'kubectl logs -n "$NS" -l app.kubernetes.io/managed-by=loopstream,app.kubernetes.io/component=prepare --tail=100',
        'the last messages of ffmpeg',
      ],
    ],
    mends: [
      'storage_full: enlarge the volume or the bucket’s quota; `operator.sweep` deletes unreferenced media.',
      'storage_taken: another installation has the storage. Give each a prefix of its own, or see `docs/backup.md` to take it over.',
      'prepare_timeout: nodes are too slow or too full for the media; give Jobs better nodes.',
      'prepare_failed with an OOMKilled pod: a scratch volume in tmpfs counts as memory; give `storage.scratchVolume` a disk.',
      'Then retry the upload, because a failure is final.',
    ],
  },
  {
    name: 'LoopStreamSourcesSuspicious',
    expr: 'max by (namespace) (loopstream_suspicious_sources) > 0',
    for: '10m',
    severity: 'warning',
    summary: 'Uploads of {{ $labels.namespace }} are missing, and their sources are left.',
    description: 'The media storage has sources that no upload has, and nobody has deleted their uploads.',
    means:
      'The last sweep found sources without an upload, and no evidence that their uploads were deleted: uploads were lost, a restore is ' +
      'not complete, or another installation had this storage. The sweep keeps such a source for 30 days, then deletes it.',
    viewers: 'Nothing, unless a stream plays an upload that is missing.',
    looks: [
      [
        'kubectl get events -n "$NS" --field-selector reason=SweepSuspicious',
        'the number of sources, and since when they are reported',
      ],
      ['loopstream forget-sources "$NS" --dry-run', 'each source: its upload, account, size and date'],
      ['kubectl get uploads -n "$NS"', 'uploads that should be there and are not'],
    ],
    mends: [
      'Restore the uploads under their names, with their label `loopstream.dev/account`: they find their sources by themselves (`docs/backup.md`).',
      'Uploads that are restored into another namespace or cluster: `loopstream adopt`.',
      'Uploads that will not come back: `loopstream forget-sources`. The sweep then deletes their sources.',
      'If more time is needed than 30 days, set `operator.sweep=false` until the uploads are there.',
    ],
  },
  {
    name: 'LoopStreamScheduleLate',
    expr: 'histogram_quantile(0.99, sum by (le) (increase(loopstream_schedule_lateness_seconds_bucket[15m]))) > 30',
    severity: 'warning',
    summary: 'Streams go on air late.',
    description:
      'One in a hundred streams whose window began within the last 15 minutes got its pod more than 30 seconds late.',
    means:
      'The operator was down or overloaded at the start, or the streams were not ready. The metric ends when the pod exists; the phase `starting` follows.',
    viewers: 'The programme starts late.',
    looks: [
      [
        "kubectl get loopstreams -A -o custom-columns='NAMESPACE:.metadata.namespace,NAME:.metadata.name,PHASE:.status.phase,BEGUN:.status.lastScheduleTime'",
        'the streams that began last, and their phase',
      ],
      ['max by (controller) (workqueue_depth)  # in Prometheus', 'waiting keys: too few workers for so many starts'],
      [OPERATOR_LOG, 'an operator that began to lead only after the start; failed runs'],
    ],
    mends: [
      'Many starts in the same second: raise `operator.workers`.',
      'The streams waited for media: prepare it before the start (`MediaReady`).',
      'The operator was down: run two replicas (`operator.replicas`). The other one takes over within 15 seconds.',
    ],
  },
  {
    name: 'LoopStreamMeterBehind',
    expr: 'count by (namespace) (loopstream_status_condition{condition="SessionsMetered",status="false"} == 1) > 0',
    for: '1h',
    severity: 'warning',
    summary: 'The usage of streams in {{ $labels.namespace }} is not counted.',
    description: 'Sessions of streams have waited for acknowledgement for so long that the operator merged some.',
    means:
      'The meter of the streams (`operator.metered`) is down or late. No second is lost, but the division into sessions is.',
    viewers: 'Nothing.',
    looks: [
      [
        'kubectl get loopstreams -n "$NS" -o custom-columns=\'NAME:.metadata.name,ACKNOWLEDGED:.status.acknowledgedSession,SESSIONS:.status.sessions[*].number\'',
        'sessions after the last acknowledged one',
      ],
    ],
    mends: ['Restore the meter: it continues where it was.', 'No meter: set `operator.metered=false`.'],
  },
  {
    name: 'LoopStreamTimekeepingDoubtful',
    expr: 'count by (namespace) (loopstream_status_condition{condition="TimekeepingPlausible",status="false"} == 1) > 0',
    for: '5m',
    severity: 'warning',
    summary: 'Pods of streams in {{ $labels.namespace }} report impossible time on air.',
    description:
      'A pod reports more time on air than possible, or less than half of the time that the operator observes.',
    means:
      'An attacker changed the pod, the clock of its node was set while it was on air, or its image counts wrongly. Impossible time is not charged.',
    viewers: 'Nothing.',
    looks: [
      [
        `kubectl get loopstreams -n "$NS" -o 'custom-columns=NAME:.metadata.name,WHY:.status.conditions[?(@.type=="TimekeepingPlausible")].message'`,
        'the pod, and whether it reports too much or too little',
      ],
    ],
    mends: [
      'Delete the pod: another one takes over.',
      'Compare the image of the pod with `image`, and the clock of its node with others.',
    ],
  },
  {
    name: 'LoopStreamNotScraped',
    expr: `max ${OF_STREAM} (loopstream_status_phase{phase="live"}) == 1 unless on (namespace, loopstream) loopstream_streamer_on_air_seconds`,
    for: '15m',
    severity: 'info',
    summary: `Prometheus does not see the pod of stream ${STREAM}.`,
    description: 'The stream is live, but Prometheus has no metrics of its pod, so its other alerts cannot fire.',
    means: 'The PodMonitor is missing or does not match, or the NetworkPolicy blocks Prometheus.',
    viewers: 'Nothing.',
    looks: [
      ['kubectl get podmonitor,networkpolicy -n "$NS"', 'both must exist'],
      [STREAM_POD, 'the label `app.kubernetes.io/component=streamer`'],
    ],
    mends: [
      'Set `monitoring.podMonitor.enabled=true`, with the labels that your Prometheus selects.',
      'Add Prometheus to `networkPolicy.metricsFrom`.',
      'Without the Prometheus operator, set the labels `namespace` and `loopstream` by relabelling.',
    ],
  },
];

export const STREAM_ALERTS: Group[] = [
  { name: 'loopstream.streams', alerts: onAir },
  { name: 'loopstream.media', alerts: media },
];
