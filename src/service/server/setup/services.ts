/** Types the services that the API server's transports expose. */
import type { TopUpService } from '../../billing/cards/service.ts';
import type { CryptoService } from '../../billing/crypto/service.ts';
import type { InvoiceService } from '../../billing/invoices/service.ts';
import type { BillingService } from '../../billing/ledger/service.ts';
import type { SessionService } from '../../billing/metering/session-service.ts';
import type { AccountService } from '../../domain/accounts/service.ts';
import type { AsRunService } from '../../domain/as-run/service.ts';
import type { DestinationService } from '../../domain/destinations/service.ts';
import type { EndpointService } from '../../domain/endpoints/service.ts';
import type { EventService } from '../../domain/events/service.ts';
import type { PlaylistService } from '../../domain/playlists/service.ts';
import type { SceneService } from '../../domain/scenes/service.ts';
import type { StatsService } from '../../domain/stats/service.ts';
import type { StreamService } from '../../domain/streams/service.ts';
import type { PublicNowService } from '../../domain/timeline/public-now.ts';
import type { TimelineService } from '../../domain/timeline/service.ts';
import type { UploadService } from '../../domain/uploads/service.ts';
import type { UptimeService } from '../../domain/uptime/service.ts';

export interface Services {
  account: AccountService;
  streams: StreamService;
  destinations: DestinationService;
  uploads: UploadService;
  playlists: PlaylistService;
  scenes: SceneService;
  events: EventService;
  endpoints: EndpointService;
  billing: BillingService;
  topUps: TopUpService;
  invoices: InvoiceService;
  crypto: CryptoService;
  streamSessions: SessionService;
  timeline: TimelineService;
  asRun: AsRunService;
  publicNow: PublicNowService;
  uptime: UptimeService;
  stats: Pick<StatsService, 'live'>;
}
