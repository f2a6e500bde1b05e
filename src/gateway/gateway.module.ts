import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HttpCaller } from '../egress/http-caller.js';
import { ResponseCache } from './caching/response-cache.js';
import { Embedder } from './caching/semantic/embedder.js';
import { SemanticSearch } from './caching/semantic/semantic-search.js';
import { ProviderCaller } from './guardrails/calling/provider-caller.js';
import { Guardrails } from './guardrails/guardrails.js';
import { Admission } from './upstream/admission.js';
import { Limiter } from './limits/limiter.js';
import { Pipeline, RequestSteps } from './pipeline.js';
import { LocalModels } from './models/local-models.js';
import { UsableModelsFinder } from './models/usable-models.js';
import { ExchangeRecorders } from './recording/exchange-recorder.js';
import { ConfigPlans } from './planning/config-plans.js';
import { Planner } from './planning/planner.js';
import { Breakers } from './routing/breakers.js';
import { Realtime } from './realtime/realtime.js';
import { RetryingSender } from './attempt/retrying-sender.js';
import { TargetAttempts } from './attempt/attempt-target.js';
import { TargetEstimates } from './attempt/target-estimates.js';
import { Router } from './routing/router.js';
import { Sender } from './upstream/sender.js';
import { Signers } from './upstream/signing/signers.js';

/** The data plane. It has no controller: the ingress server passes requests and sockets to it as they leave the parser. */
@Module({
  imports: [AuthModule],
  providers: [
    Admission,
    Breakers,
    ConfigPlans,
    Embedder,
    ExchangeRecorders,
    Guardrails,
    HttpCaller,
    LocalModels,
    Limiter,
    Pipeline,
    Planner,
    ProviderCaller,
    Realtime,
    RequestSteps,
    ResponseCache,
    RetryingSender,
    Router,
    SemanticSearch,
    Sender,
    Signers,
    TargetAttempts,
    TargetEstimates,
    UsableModelsFinder,
  ],
  exports: [Pipeline, Realtime],
})
export class GatewayModule {}
