"""
Plays the agents of pydantic-ai and LlamaIndex against a gateway.

Reads one JSON object from standard input, {"root", "image", "cases": [{"id", "framework", "client", "model", "thinks", "streamed",
"headers"}]}, and writes a JSON line for each case: {"id"} with the texts of both turns, the tools that were called and the usage, or with
"error". `root` is the gateway's address without a path; `image` is a PNG in base64.
"""

import asyncio
import base64
import json
import sys
import traceback
import warnings

warnings.filterwarnings("ignore")

QUESTION = "What is the weather?"
NEXT_QUESTION = "And tomorrow?"


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def population(city: str) -> str:
    """How many people live in a city."""
    return f"many in {city}"


def pydantic_model(case, root):
    """A model of pydantic-ai, and what its settings say of thinking."""
    from anthropic import AsyncAnthropic
    from google import genai
    from openai import AsyncOpenAI
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    client, model, headers = case["client"], case["model"], case["headers"]
    rest = {"api_key": "unused", "max_retries": 0, "default_headers": headers}
    if client == "AnthropicModel":
        own = AnthropicProvider(anthropic_client=AsyncAnthropic(base_url=root, **rest))
        budget = {"anthropic_thinking": {"type": "enabled", "budget_tokens": 2048}}
        adaptive = {"anthropic_thinking": {"type": "adaptive"}}
        settings = {"max_tokens": 8192, "anthropic_cache_instructions": True, "anthropic_cache_tool_definitions": True}
        return AnthropicModel(model, provider=own), settings | (adaptive if "opus-4-8" in model else budget), settings
    if client == "GoogleModel":
        options = {"base_url": root, "headers": headers}
        own = GoogleProvider(client=genai.Client(api_key="unused", http_options=options))
        return GoogleModel(model, provider=own), {"google_thinking_config": {"include_thoughts": True}}, {}
    own = OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{root}/v1", **rest))
    effort = {"openai_reasoning_effort": "low"}
    if client == "OpenAIChatModel":
        return OpenAIChatModel(model, provider=own), effort, {}
    stored = {"openai_store": False}
    return OpenAIResponsesModel(model, provider=own), effort | stored | {"openai_reasoning_summary": "auto"}, stored


async def pydantic_ai(case, root, image):
    from pydantic_ai import Agent, BinaryContent, ThinkingPart, ToolCallPart

    model, thinking, plain = pydantic_model(case, root)
    agent = Agent(model, instructions="Help.", tools=[weather, population])

    async def read(_, events):
        async for _event in events:
            pass

    rest = {"model_settings": thinking if case["thinks"] else plain}
    if case["streamed"]:
        rest["event_stream_handler"] = read
    picture = BinaryContent(data=image, media_type="image/png")
    first = await agent.run([QUESTION, picture], **rest)
    second = await agent.run(NEXT_QUESTION, message_history=first.all_messages(), **rest)
    parts = [part for message in first.all_messages() for part in message.parts]
    usage = first.usage
    return {
        "texts": [first.output, second.output],
        "calls": [[part.tool_name, part.args_as_dict()] for part in parts if isinstance(part, ToolCallPart)],
        "thoughts": [part.content for part in parts if isinstance(part, ThinkingPart)],
        "usage": {"input": usage.input_tokens, "cached": usage.cache_read_tokens, "output": usage.output_tokens},
    }


def llama_model(case, root):
    from llama_index.llms.anthropic import Anthropic
    from llama_index.llms.openai import OpenAIResponses
    from llama_index.llms.openai_like import OpenAILike

    client, model, thinks = case["client"], case["model"], case["thinks"]
    rest = {"model": model, "api_key": "unused", "max_retries": 0, "default_headers": case["headers"]}
    if client == "Anthropic":
        budget = {"thinking_dict": {"type": "enabled", "budget_tokens": 2048}, "temperature": 1.0}
        return Anthropic(base_url=root, max_tokens=8192, **(budget if thinks else {}), **rest)
    if client == "OpenAIResponses":
        effort = {"reasoning_options": {"effort": "low"}, "include": ["reasoning.encrypted_content"]} if thinks else {}
        return OpenAIResponses(api_base=f"{root}/v1", context_window=128_000, **effort, **rest)
    effort = {"reasoning_effort": "low"} if thinks else {}
    return OpenAILike(
        api_base=f"{root}/v1",
        context_window=128_000,
        is_chat_model=True,
        is_function_calling_model=True,
        **effort,
        **rest,
    )


async def llama_index(case, root, image):
    from llama_index.core.agent.workflow import FunctionAgent, ToolCall
    from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
    from llama_index.core.workflow import Context

    agent = FunctionAgent(
        tools=[weather, population],
        llm=llama_model(case, root),
        system_prompt="Help.",
        streaming=case["streamed"],
    )
    context = Context(agent)
    blocks = [TextBlock(text=QUESTION), ImageBlock(image=image, image_mimetype="image/png")]
    handler = agent.run(user_msg=ChatMessage(role="user", blocks=blocks), ctx=context)
    calls = [
        [event.tool_name, event.tool_kwargs]
        async for event in handler.stream_events()
        if type(event) is ToolCall
    ]
    first = await handler
    second = await agent.run(user_msg=NEXT_QUESTION, ctx=context)
    return {"texts": [str(first), str(second)], "calls": calls}


PLAYERS = {"pydantic-ai": pydantic_ai, "LlamaIndex": llama_index}


async def main():
    asked = json.load(sys.stdin)
    image = base64.b64decode(asked["image"])
    for case in asked["cases"]:
        try:
            told = await PLAYERS[case["framework"]](case, asked["root"], image)
        except Exception as error:  # Each case is told, whatever broke.
            trace = traceback.format_exc().splitlines()
            told = {"error": f"{type(error).__name__}: {error}", "trace": trace[-12:]}
        print(json.dumps({"id": case["id"], **told}), flush=True)


asyncio.run(main())
