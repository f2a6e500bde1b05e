import { ApiParam } from '@nestjs/swagger';

/** Describes the workspace in a path. */
export const WorkspaceParameter = ApiParam({
  name: 'workspaceId',
  description: 'Id or slug of the workspace.',
});
