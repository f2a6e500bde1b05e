import { createFileRoute } from '@tanstack/react-router';
import { OverviewPage } from '../screens/overview/overview-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/overview')({
  validateSearch: texts('range'),
  component: OverviewPage,
});
