import { Get, Query, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, RequireScope } from '../../../auth/permissions/access.decorators.js';
import { AuthGuard } from '../../../auth/strategies/auth.guard.js';
import type { Principal } from '../../../auth/principal.js';
import { visibilityOf } from '../../../auth/permissions/visibility.js';
import { requireScope } from '../../../auth/permissions/require-scope.js';
import { AdminController } from '../../controllers/admin-controller.js';
import { Refusals } from '../../openapi/decorators.js';
import { WorkspaceFinder } from '../../tenancy/workspace-finder.service.js';
import { filterConditions } from '../../dto-fields/log-filter-query.dto.js';
import { WatchLogsQuery } from '../log-query.dto.js';
import { LiveLogs } from './live-logs.service.js';

const EVENT_STREAM = 'text/event-stream';

@AdminController('logs/stream')
@Refusals()
export class LiveLogsController {
  constructor(
    private readonly live: LiveLogs,
    private readonly workspaces: WorkspaceFinder,
    private readonly callers: AuthGuard,
  ) {}

  @Get()
  @RequireScope('logs.list')
  @ApiOperation({
    summary: 'Watch new requests as server-sent events',
    description:
      'Sends each new request that matches the filters as an event `log`. The event `dropped` counts those that were left out of a fast stream.',
  })
  @ApiProduces(EVENT_STREAM)
  @ApiOkResponse({ schema: { type: 'string', description: 'Events: log, dropped, end' } })
  async watch(
    @Caller() caller: Principal,
    @Query() query: WatchLogsQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const conditions = filterConditions(query);
    const reach = await this.workspaces.narrowed(caller, query.workspace_id);
    const place = `${reach.organizationId} ${reach.workspaceId ?? ''}`;
    this.live.checkStreamLimit(place);
    reply.hijack();
    const { raw: response } = reply;
    response.writeHead(200, {
      'content-type': EVENT_STREAM,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-accel-buffering': 'no',
      'x-gateway-request-id': request.id,
    });
    response.flushHeaders();
    const check = async () => {
      const now = await this.callers.identify(request);
      requireScope(now, 'logs.list');
      return visibilityOf(now);
    };
    this.live.add({ response, place, ...reach, conditions, own: visibilityOf(caller), check });
  }
}
