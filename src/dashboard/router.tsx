/**
 * The pages and their addresses. Each page is loaded when somebody goes there first, so that the first load is small: a page
 * is a module of its own, named here and nowhere else.
 */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, useParams } from '@tanstack/react-router';
import { createSearchOf } from './create/steps.ts';
import { NotFound } from './shell/notices.tsx';
import { PageFailure, PageLoading } from './shell/pending.tsx';
import { Shell } from './shell/shell.tsx';
import { searchOf } from './streams/filter.ts';

const rootRoute = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const at = <Path extends string>(path: Path) => ({ getParentRoute: () => rootRoute, path });

const OverviewPage = lazyRouteComponent(() => import('./overview/page.tsx'), 'OverviewPage');
const CreatePage = lazyRouteComponent(() => import('./create/page.tsx'), 'CreatePage');
const StreamPage = lazyRouteComponent(() => import('./streams/streamPage.tsx'), 'StreamPage');
const StreamsPage = lazyRouteComponent(() => import('./streams/listPage.tsx'), 'StreamsPage');
const UploadsPage = lazyRouteComponent(() => import('./uploads/page.tsx'), 'UploadsPage');
const PlaylistsPage = lazyRouteComponent(() => import('./playlists/listPage.tsx'), 'PlaylistsPage');
const PlaylistPage = lazyRouteComponent(() => import('./playlists/page.tsx'), 'PlaylistPage');
const DestinationsPage = lazyRouteComponent(() => import('./destinations/page.tsx'), 'DestinationsPage');

const homeRoute = createRoute({ ...at('/'), component: OverviewPage });
const streamsRoute = createRoute({ ...at('/streams'), component: StreamsPage, validateSearch: searchOf });
const newStreamRoute = createRoute({ ...at('/create'), component: CreatePage, validateSearch: createSearchOf });
const streamRoute = createRoute({
  ...at('/streams/$id'),
  component: function StreamRoute() {
    const { id } = useParams({ from: '/streams/$id' });
    return <StreamPage key={id} id={id} />;
  },
  loader: () => StreamPage.preload?.(),
});
const uploadsRoute = createRoute({ ...at('/uploads'), component: UploadsPage });
const playlistsRoute = createRoute({ ...at('/playlists'), component: PlaylistsPage });
const playlistRoute = createRoute({
  ...at('/playlists/$id'),
  component: function PlaylistRoute() {
    const { id } = useParams({ from: '/playlists/$id' });
    return <PlaylistPage key={id} id={id} />;
  },
  loader: () => PlaylistPage.preload?.(),
});
const destinationsRoute = createRoute({ ...at('/destinations'), component: DestinationsPage });
const libraryRoutes = [uploadsRoute, playlistsRoute, playlistRoute, destinationsRoute] as const;

const routeTree = rootRoute.addChildren([homeRoute, streamsRoute, newStreamRoute, streamRoute, ...libraryRoutes]);
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
}
