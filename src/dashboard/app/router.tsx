/**
 * The pages and their addresses. Each page is loaded when somebody goes there first, so that the first load is small: a page
 * is a module of its own, named here and nowhere else.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, useParams } from '@tanstack/react-router';
import type { PagePath } from '../../service/lib/page-paths.ts';
import { SignInPage } from '../features/account/signInPage.tsx';
import { parseCreateSearch } from '../features/create/steps.ts';
import { parseSearch } from '../features/streams/filter.ts';
import { NotFound } from '../ui/notices.tsx';
import { parseListSearch } from '../ui/searchText.ts';
import { PageFailure, PageLoading } from './pending.tsx';
import { Shell } from './shell.tsx';

/** `form`: the form of a page that is open, see ui/useOpen.ts. */
const parseOpenForm = ({ form }: Record<string, unknown>): { form?: string | undefined } =>
  typeof form === 'string' && form !== '' ? { form: form.slice(0, 300) } : {};

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound, validateSearch: parseOpenForm });
const at = <Path extends PagePath>(path: Path) => ({ getParentRoute: () => rootRoute, path });

const OverviewPage = lazyRouteComponent(() => import('../features/overview/page.tsx'), 'OverviewPage');
const CreatePage = lazyRouteComponent(() => import('../features/create/page.tsx'), 'CreatePage');
const StreamPage = lazyRouteComponent(() => import('../features/streams/streamPage.tsx'), 'StreamPage');
const StreamsPage = lazyRouteComponent(() => import('../features/streams/listPage.tsx'), 'StreamsPage');
const UploadsPage = lazyRouteComponent(() => import('../features/uploads/page.tsx'), 'UploadsPage');
const PlaylistsPage = lazyRouteComponent(() => import('../features/playlists/listPage.tsx'), 'PlaylistsPage');
const PlaylistPage = lazyRouteComponent(() => import('../features/playlists/page.tsx'), 'PlaylistPage');
const ScenesPage = lazyRouteComponent(() => import('../features/scenes/listPage.tsx'), 'ScenesPage');
const DestinationsPage = lazyRouteComponent(() => import('../features/destinations/page.tsx'), 'DestinationsPage');

const homeRoute = createRoute({ ...at('/'), component: OverviewPage });
const streamsRoute = createRoute({ ...at('/streams'), component: StreamsPage, validateSearch: parseSearch });
const newStreamRoute = createRoute({ ...at('/create'), component: CreatePage, validateSearch: parseCreateSearch });
const streamRoute = createRoute({
  ...at('/streams/$id'),
  component: function StreamRoute() {
    const { id } = useParams({ from: '/streams/$id' });
    return <StreamPage key={id} id={id} />;
  },
  loader: () => StreamPage.preload?.(),
});
const uploadsRoute = createRoute({ ...at('/uploads'), component: UploadsPage, validateSearch: parseListSearch });
const playlistsRoute = createRoute({ ...at('/playlists'), component: PlaylistsPage, validateSearch: parseListSearch });
const playlistRoute = createRoute({
  ...at('/playlists/$id'),
  component: function PlaylistRoute() {
    const { id } = useParams({ from: '/playlists/$id' });
    return <PlaylistPage key={id} id={id} />;
  },
  loader: () => PlaylistPage.preload?.(),
});
const scenesRoute = createRoute({ ...at('/scenes'), component: ScenesPage, validateSearch: parseListSearch });
const destinationsRoute = createRoute({
  ...at('/destinations'),
  component: DestinationsPage,
  validateSearch: parseListSearch,
});
const EndpointsPage = lazyRouteComponent(() => import('../features/notifications/page.tsx'), 'EndpointsPage');
const EndpointPage = lazyRouteComponent(() => import('../features/notifications/endpointPage.tsx'), 'EndpointPage');
const EventsPage = lazyRouteComponent(() => import('../features/notifications/eventsPage.tsx'), 'EventsPage');
const endpointsRoute = createRoute({ ...at('/notifications'), component: EndpointsPage });
const eventsRoute = createRoute({ ...at('/notifications/events'), component: EventsPage });
const endpointRoute = createRoute({
  ...at('/notifications/$id'),
  component: function EndpointRoute() {
    const { id } = useParams({ from: '/notifications/$id' });
    return <EndpointPage key={id} id={id} />;
  },
  loader: () => EndpointPage.preload?.(),
});
const libraryRoutes = [uploadsRoute, playlistsRoute, playlistRoute, scenesRoute, destinationsRoute] as const;
const notificationRoutes = [endpointsRoute, eventsRoute, endpointRoute] as const;

/** Pages that stand alone: OPEN_PAGES of features/account/addresses.ts. */
const signInRoute = createRoute({
  ...at('/sign-in'),
  component: SignInPage,
  // While somebody types: most go there next. Nobody waits for it.
  loader: () => void OverviewPage.preload?.(),
});
const signUpRoute = createRoute({
  ...at('/sign-up'),
  component: lazyRouteComponent(() => import('../features/account/signUpPage.tsx'), 'SignUpPage'),
});
const checkMailRoute = createRoute({
  ...at('/check-mail'),
  component: lazyRouteComponent(() => import('../features/account/checkMailPage.tsx'), 'CheckMailPage'),
});
const verifyRoute = createRoute({
  ...at('/verify'),
  component: lazyRouteComponent(() => import('../features/account/verifyPage.tsx'), 'VerifyPage'),
});
const forgotPasswordRoute = createRoute({
  ...at('/forgot-password'),
  component: lazyRouteComponent(() => import('../features/account/resetPages.tsx'), 'ForgotPasswordPage'),
});
const resetPasswordRoute = createRoute({
  ...at('/reset-password'),
  component: lazyRouteComponent(() => import('../features/account/resetPages.tsx'), 'ResetPasswordPage'),
});
const consentRoute = createRoute({
  ...at('/consent'),
  component: lazyRouteComponent(() => import('../features/account/consentPage.tsx'), 'ConsentPage'),
});
const openRoutes = [
  signInRoute,
  signUpRoute,
  checkMailRoute,
  verifyRoute,
  forgotPasswordRoute,
  resetPasswordRoute,
  consentRoute,
] as const;

const accountRoute = createRoute({
  ...at('/account'),
  component: lazyRouteComponent(() => import('../features/account/accountPage.tsx'), 'AccountPage'),
});
const keysRoute = createRoute({
  ...at('/account/keys'),
  component: lazyRouteComponent(() => import('../features/account/keysPage.tsx'), 'KeysPage'),
});
const appsRoute = createRoute({
  ...at('/account/apps'),
  component: lazyRouteComponent(() => import('../features/account/appsPage.tsx'), 'AppsPage'),
});
const billingRoute = createRoute({
  ...at('/billing'),
  component: lazyRouteComponent(() => import('../features/billing/page.tsx'), 'BillingPage'),
});
const DepositPage = lazyRouteComponent(() => import('../features/billing/depositPage.tsx'), 'DepositPage');
const depositRoute = createRoute({
  ...at('/billing/deposits/$id'),
  component: function DepositRoute() {
    const { id } = useParams({ from: '/billing/deposits/$id' });
    return <DepositPage key={id} id={id} />;
  },
  loader: () => DepositPage.preload?.(),
});
const accountRoutes = [billingRoute, depositRoute, accountRoute, keysRoute, appsRoute] as const;

const routeTree = rootRoute.addChildren([
  homeRoute,
  streamsRoute,
  newStreamRoute,
  streamRoute,
  ...libraryRoutes,
  ...notificationRoutes,
  ...openRoutes,
  ...accountRoutes,
]);
export const createAppRouter = () =>
  createRouter({
    routeTree,
    scrollRestoration: true,
    defaultPreload: 'intent',
    defaultPendingComponent: PageLoading,
    defaultErrorComponent: PageFailure,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
  interface HistoryState {
    /** This entry was made by opening a form: going back closes it. */
    formOpened?: true;
    /** Where a mail went, and what for: kept with the entry of the history, and in no address. */
    mail?: { email: string; why: 'reset' | 'verify' };
  }
}
